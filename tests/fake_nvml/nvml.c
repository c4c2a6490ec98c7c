/* A stand-in for libnvidia-ml.so.1, driven by a state file.
 *
 * The file is named by VLLMWATCH_FAKE_NVML_STATE and read again whenever it changes. Each line is `key=value`:
 *
 *   nvmlDeviceGetCount_v2=2             a function of the whole library
 *   gpu.0.nvmlDeviceGetUUID=GPU-...     a function of one GPU; several results are joined by commas
 *   gpu.*.nvmlDeviceGetBrand=5          the same for every GPU that has no line of its own
 *   gpu.0.nvmlDeviceGetClockInfo.1=1980 an argument of the call stands behind the name
 *   gpu.0.field.82=u32:54               a field value; `.SCOPE` may follow the number
 *   gpu.0.mig.1.nvmlDeviceGetName=...   a MIG device (mig.* for all of them)
 *   process.3=gpu.0,compute,4711,1024,-,-   pid, bytes (- for not available), GPU instance, compute instance
 *   event.0=0,8,79,-                    an event: GPU, type, data, GPU instance
 *   delay_ms.nvmlDeviceGetPowerUsage=200
 *
 * A value of `error:N` makes the call return N; `gpu.0.*=error:15` loses a GPU; `*=error:1` loses the driver.
 * What has no line is NVML_ERROR_NOT_SUPPORTED. Without a state file the driver is not loaded.
 * With VLLMWATCH_FAKE_NVML_LOOK_MS the file is looked at no more often than that, for those who measure a caller's cost.
 * With -DOLD_DRIVER, functions that drivers of the 470 line lack are left out of the library. With -DWIDE_PROCESSES,
 * entries of processes have the longer layout that the v3 functions had for a while around driver 535.
 */
#include <libgen.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { SUCCESS = 0, UNINITIALIZED = 1, INVALID_ARGUMENT = 2, NOT_SUPPORTED = 3, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7,
       DRIVER_NOT_LOADED = 9, TIMEOUT = 10, NO_DATA = 21 };
enum { SLOTS = 16384, MAX_GPUS = 64, MAX_MIGS = 8, MAX_TEXT = 256 };

typedef unsigned int uint;
typedef unsigned long long ulonglong;
typedef struct device { int gpu, mig; } *device_t;
typedef struct event_set { int next, watch; ulonglong types[MAX_GPUS]; } *event_set_t;
typedef struct { uint pid; ulonglong memory; uint gpu_instance, compute_instance; } process_t;
typedef struct { device_t device; ulonglong type, data; uint gpu_instance, compute_instance; } event_t;
typedef struct { uint field, scope; long long timestamp, latency; int type, status; union {
    double real; uint u32; ulonglong u64; long long i64; int i32; unsigned short u16; } value; } field_t;
typedef struct { char legacy[16]; uint domain, bus, device, device_id, subsystem_id; char bus_id[32]; } pci_t;
typedef struct sample { ulonglong reading; int taken; char counters[4096]; } *sample_t; /* as large as real ones */

static struct { const char *key, *value; } table[SLOTS];
static char *content;
static struct stat seen;
static int initialized, loaded;
static uint generation = 1; /* of the state; what was found in an older one is looked up anew */
static long looked_at_ms;
static struct device devices[MAX_GPUS][MAX_MIGS + 1];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- how often each function was called, for tests that count ---- */

enum { CALLS = 4096 };
static struct { char name[64]; int count; } calls[CALLS];

static uint hash_of(const char *key) {
    uint hash = 2166136261u;
    for (; *key; key++) hash = (hash ^ (unsigned char)*key) * 16777619u;
    return hash;
}

static int *call_counter(const char *function) {
    uint slot = hash_of(function) % CALLS;
    while (calls[slot].name[0] && strncmp(calls[slot].name, function, 63)) slot = (slot + 1) % CALLS;
    if (!calls[slot].name[0]) snprintf(calls[slot].name, sizeof calls[slot].name, "%s", function);
    return &calls[slot].count;
}

int fake_call_count(const char *function) { return *call_counter(function); }
void fake_forget_calls(void) { for (int i = 0; i < CALLS; i++) calls[i].count = 0; }

/* ---- the state file ---- */

static uint slot_of(const char *key) { return hash_of(key) % SLOTS; }

static const char *find(const char *key) {
    for (uint slot = slot_of(key); table[slot].key; slot = (slot + 1) % SLOTS)
        if (!strcmp(table[slot].key, key)) return table[slot].value;
    return NULL;
}

static void parse(void) {
    memset(table, 0, sizeof table);
    for (char *rest = content, *line; (line = strsep(&rest, "\n"));) {
        char *value = strchr(line, '=');
        if (*line == '#' || !value) continue;
        *value++ = 0;
        uint slot = slot_of(line);
        while (table[slot].key && strcmp(table[slot].key, line)) slot = (slot + 1) % SLOTS;
        table[slot].key = line;
        table[slot].value = value;
    }
}

static long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int looked_lately(void) {
    static long every_ms = -1;
    if (every_ms < 0) every_ms = getenv("VLLMWATCH_FAKE_NVML_LOOK_MS") ? atol(getenv("VLLMWATCH_FAKE_NVML_LOOK_MS")) : 0;
    if (!every_ms) return 0;
    long now = now_ms();
    if (now - looked_at_ms < every_ms) return 1;
    looked_at_ms = now;
    return 0;
}

static void refresh(void) {
    struct stat now;
    if (looked_lately()) return;
    const char *path = getenv("VLLMWATCH_FAKE_NVML_STATE");
    if (!path || stat(path, &now)) { generation += loaded; loaded = 0; memset(&seen, 0, sizeof seen); return; }
    if (loaded && now.st_ino == seen.st_ino && now.st_size == seen.st_size &&
        now.st_mtim.tv_sec == seen.st_mtim.tv_sec && now.st_mtim.tv_nsec == seen.st_mtim.tv_nsec) return;
    FILE *file = fopen(path, "r");
    generation++;
    if (!file) { loaded = 0; return; }
    free(content);
    content = calloc(1, now.st_size + 1);
    if (fread(content, 1, now.st_size, file) != (size_t)now.st_size) content[0] = 0;
    fclose(file);
    seen = now;
    loaded = 1;
    parse();
}

static int failed(const char *value) { return value && !strncmp(value, "error:", 6) ? atoi(value + 6) : SUCCESS; }

/* Find the value of one reading under the keys that it may have, the strongest first. */
static const char *value_of(device_t device, const char *function, const char *argument) {
    char keys[8][192], own[48] = "", all[16] = "";
    int count = 0;
    if (device && device->mig) { sprintf(own, "gpu.%d.mig.%d", device->gpu, device->mig - 1); strcpy(all, "mig.*"); }
    else if (device) { sprintf(own, "gpu.%d", device->gpu); strcpy(all, "gpu.*"); }
    strcpy(keys[count++], "*");
    if (device) {
        sprintf(keys[count++], "gpu.%d.*", device->gpu);
        snprintf(keys[count++], 192, "%s.%s%s%s", own, function, argument ? "." : "", argument ? argument : "");
        if (argument) snprintf(keys[count++], 192, "%s.%s", own, function);
        snprintf(keys[count++], 192, "%s.%s%s%s", all, function, argument ? "." : "", argument ? argument : "");
        if (argument) snprintf(keys[count++], 192, "%s.%s", all, function);
    } else snprintf(keys[count++], 192, "%s", function);
    for (int i = 0; i < count; i++) {
        const char *value = find(keys[i]);
        if (value) return value;
    }
    return NULL;
}

/* What was found for a reading, so that whoever asks again and again is answered at once, as by a real driver. */
enum { FOUND = 1 << 16 };
static struct found { char key[64]; device_t device; uint generation; const char *value; int code, delay, *count; } found[FOUND];

static struct found *find_reading(device_t device, const char *function, const char *argument) {
    char key[64], delay_key[192];
    size_t length = strlen(function), more = argument ? strlen(argument) : 0;
    if (length + more + 2 > sizeof key) abort();
    memcpy(key, function, length);
    key[length] = '.';
    memcpy(key + length + 1, argument ? argument : "", more + 1);
    uint slot = (hash_of(key) + (uint)(size_t)device) % FOUND;
    while (found[slot].count && (found[slot].device != device || strcmp(found[slot].key, key))) slot = (slot + 1) % FOUND;
    struct found *it = found + slot;
    if (it->generation == generation) return it;
    if (!it->count) { strcpy(it->key, key); it->device = device; it->count = call_counter(function); }
    it->generation = generation;
    snprintf(delay_key, sizeof delay_key, "delay_ms.%s", function);
    it->delay = find(delay_key) ? atoi(find(delay_key)) : 0;
    it->value = loaded ? value_of(device, function, argument) : NULL;
    it->code = !loaded ? DRIVER_NOT_LOADED : it->value ? failed(it->value) : NOT_SUPPORTED;
    return it;
}

/* Look up one reading, copy it to `text`, and return NVML's code for it. */
static int look(device_t device, const char *function, const char *argument, char *text) {
    pthread_mutex_lock(&lock);
    refresh();
    struct found *it = find_reading(device, function, argument);
    int code = it->code, delay = loaded ? it->delay : 0;
    ++*it->count;
    if (!code) { strncpy(text, it->value, MAX_TEXT - 1); text[MAX_TEXT - 1] = 0; }
    pthread_mutex_unlock(&lock);
    if (delay) usleep(delay * 1000);
    return code;
}

static int ready(device_t device, const void *result) {
    if (!initialized) return UNINITIALIZED;
    if ((char *)device < (char *)devices || (char *)device >= (char *)devices + sizeof devices || !result)
        return INVALID_ARGUMENT;
    return SUCCESS;
}

/* ---- results of the common shapes ---- */

static int numbers(device_t device, const char *function, const char *argument, int count, ulonglong *results) {
    char text[MAX_TEXT], *rest = text;
    int code = ready(device, results);
    if (code || (code = look(device, function, argument, text))) return code;
    for (int i = 0; i < count; i++) {
        char *part = strsep(&rest, ",");
        if (!part) return NOT_SUPPORTED;
        results[i] = strtoull(part, NULL, 0);
    }
    return SUCCESS;
}

static int number(device_t device, const char *function, int argument, uint *result) {
    ulonglong value;
    char digits[16];
    if (!result) return INVALID_ARGUMENT;
    sprintf(digits, "%d", argument);
    int code = numbers(device, function, argument < 0 ? NULL : digits, 1, &value);
    if (!code) *result = (uint)value;
    return code;
}

static int string(device_t device, const char *function, uint length, char *result) {
    char text[MAX_TEXT];
    int code = ready(device, result);
    if (code || (code = look(device, function, NULL, text))) return code;
    if (strlen(text) + 1 > length) return INSUFFICIENT_SIZE;
    strcpy(result, text);
    return SUCCESS;
}

#define NUMBER(name) int name(device_t device, uint *result) { return number(device, #name, -1, result); }
#define NUMBER_OF(name) int name(device_t device, uint kind, uint *result) { return number(device, #name, kind, result); }
#define PAIR(name) int name(device_t device, uint *first, uint *second) { ulonglong values[2]; \
    if (!first || !second) return INVALID_ARGUMENT; \
    int code = numbers(device, #name, NULL, 2, values); \
    if (!code) { *first = (uint)values[0]; *second = (uint)values[1]; } return code; }
#define LONG(name) int name(device_t device, ulonglong *result) { return numbers(device, #name, NULL, 1, result); }
#define STRING(name) int name(device_t device, char *result, uint length) { return string(device, #name, length, result); }

NUMBER_OF(nvmlDeviceGetTemperature) NUMBER_OF(nvmlDeviceGetTemperatureThreshold)
NUMBER_OF(nvmlDeviceGetClockInfo) NUMBER_OF(nvmlDeviceGetMaxClockInfo) NUMBER_OF(nvmlDeviceGetFanSpeed_v2)
NUMBER_OF(nvmlDeviceGetNvLinkState) NUMBER_OF(nvmlDeviceGetPcieThroughput)
NUMBER(nvmlDeviceGetPowerUsage) NUMBER(nvmlDeviceGetEnforcedPowerLimit) NUMBER(nvmlDeviceGetPowerManagementLimit)
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit) NUMBER(nvmlDeviceGetPerformanceState) NUMBER(nvmlDeviceGetFanSpeed)
NUMBER(nvmlDeviceGetNumFans) NUMBER(nvmlDeviceGetCurrPcieLinkGeneration) NUMBER(nvmlDeviceGetCurrPcieLinkWidth)
NUMBER(nvmlDeviceGetMaxPcieLinkGeneration) NUMBER(nvmlDeviceGetMaxPcieLinkWidth) NUMBER(nvmlDeviceGetPcieReplayCounter)
NUMBER(nvmlDeviceGetPersistenceMode) NUMBER(nvmlDeviceGetComputeMode) NUMBER(nvmlDeviceGetDisplayMode)
NUMBER(nvmlDeviceGetDisplayActive) NUMBER(nvmlDeviceGetArchitecture) NUMBER(nvmlDeviceGetBrand)
NUMBER(nvmlDeviceGetMaxMigDeviceCount) NUMBER(nvmlDeviceGetGpuInstanceId) NUMBER(nvmlDeviceGetComputeInstanceId)
NUMBER(nvmlDeviceGetNumGpuCores) NUMBER(nvmlDeviceGetRetiredPagesPendingStatus)
PAIR(nvmlDeviceGetEncoderUtilization) PAIR(nvmlDeviceGetDecoderUtilization)
PAIR(nvmlDeviceGetPowerManagementLimitConstraints) PAIR(nvmlDeviceGetEccMode) PAIR(nvmlDeviceGetMigMode)
PAIR(nvmlDeviceGetCudaComputeCapability) PAIR(nvmlDeviceGetGspFirmwareMode)
LONG(nvmlDeviceGetTotalEnergyConsumption) LONG(nvmlDeviceGetCurrentClocksThrottleReasons)
LONG(nvmlDeviceGetSupportedClocksThrottleReasons) LONG(nvmlDeviceGetSupportedEventTypes)
STRING(nvmlDeviceGetName) STRING(nvmlDeviceGetUUID) STRING(nvmlDeviceGetSerial) STRING(nvmlDeviceGetVbiosVersion)

int nvmlDeviceGetUtilizationRates(device_t device, uint *result) { /* gpu, memory */
    ulonglong values[2];
    int code = numbers(device, "nvmlDeviceGetUtilizationRates", NULL, 2, values);
    if (!code) { result[0] = (uint)values[0]; result[1] = (uint)values[1]; }
    return code;
}

int nvmlDeviceGetGspFirmwareVersion(device_t device, char *result) {
    return string(device, "nvmlDeviceGetGspFirmwareVersion", 64, result);
}

int nvmlDeviceGetTotalEccErrors(device_t device, uint kind, uint lifetime, ulonglong *result) {
    char argument[24];
    sprintf(argument, "%u.%u", kind, lifetime);
    return numbers(device, "nvmlDeviceGetTotalEccErrors", argument, 1, result);
}

int nvmlDeviceGetRemappedRows(device_t device, uint *corrected, uint *uncorrected, uint *pending, uint *failed_rows) {
    ulonglong values[4];
    int code = numbers(device, "nvmlDeviceGetRemappedRows", NULL, 4, values);
    if (code) return code;
    *corrected = values[0]; *uncorrected = values[1]; *pending = values[2]; *failed_rows = values[3];
    return SUCCESS;
}

int nvmlDeviceGetViolationStatus(device_t device, uint policy, ulonglong *result) {
    char argument[16];
    sprintf(argument, "%u", policy);
    int code = numbers(device, "nvmlDeviceGetViolationStatus", argument, 1, result + 1);
    if (!code) result[0] = (ulonglong)time(NULL) * 1000000;
    return code;
}

int nvmlDeviceGetMarginTemperature(device_t device, uint *versioned) {
    return versioned && versioned[0] == ((1u << 24) | 8)
        ? number(device, "nvmlDeviceGetMarginTemperature", -1, versioned + 1) : 25;
}

int nvmlDeviceGetMemoryInfo(device_t device, ulonglong *result) { /* total, free, used; used holds the reserved part */
    ulonglong values[4];
    int code = numbers(device, "nvmlDeviceGetMemoryInfo", NULL, 4, values);
    if (code) return code;
    result[0] = values[0]; result[1] = values[2]; result[2] = values[1] + values[3];
    return SUCCESS;
}

int nvmlDeviceGetBAR1MemoryInfo(device_t device, ulonglong *result) { /* total, free, used */
    return numbers(device, "nvmlDeviceGetBAR1MemoryInfo", NULL, 3, result);
}

int nvmlDeviceGetPciInfo_v3(device_t device, pci_t *result) {
    char text[MAX_TEXT];
    int code = ready(device, result);
    if (code || (code = look(device, "nvmlDeviceGetPciInfo_v3", NULL, text))) return code;
    memset(result, 0, sizeof *result);
    if (sscanf(text, "%x:%x:%x", &result->domain, &result->bus, &result->device) != 3) return NO_DATA;
    sprintf(result->legacy, "%04X:%02X:%02X.0", result->domain & 0xffff, result->bus & 0xff, result->device & 0xff);
    sprintf(result->bus_id, "%08X:%02X:%02X.0", result->domain, result->bus & 0xff, result->device & 0xff);
    return SUCCESS;
}

/* Driver models are of Windows; per-process utilization has no samples. */
int nvmlDeviceGetDriverModel(device_t device, uint *now, uint *later) {
    (void)now; (void)later;
    return ready(device, device) ? INVALID_ARGUMENT : NOT_SUPPORTED;
}
int nvmlDeviceGetDriverModel_v2(device_t device, uint *now, uint *later) {
    return nvmlDeviceGetDriverModel(device, now, later);
}
int nvmlDeviceGetProcessUtilization(device_t device, void *samples, uint *count, ulonglong since) {
    (void)samples; (void)since;
    *count = 0;
    return ready(device, count) ? INVALID_ARGUMENT : NOT_FOUND;
}

int nvmlDeviceGetIndex(device_t device, uint *result) {
    int code = ready(device, result);
    if (!code) *result = device->gpu;
    return code;
}

/* ---- fields ---- */

/* Read a field's type and value; what the type does not cover is undefined. */
static void parse_field(const char *text, field_t *field) {
    const char *digits = strchr(text, ':') ? strchr(text, ':') + 1 : text;
    memset(&field->value, 0xAA, sizeof field->value);
    if (!strncmp(text, "u32:", 4)) { field->type = 1; field->value.u32 = strtoul(digits, NULL, 0); }
    else if (!strncmp(text, "i32:", 4)) { field->type = 5; field->value.i32 = atoi(digits); }
    else if (!strncmp(text, "i64:", 4)) { field->type = 4; field->value.i64 = strtoll(digits, NULL, 0); }
    else if (!strncmp(text, "u16:", 4)) { field->type = 6; field->value.u16 = strtoul(digits, NULL, 0); }
    else if (!strncmp(text, "f64:", 4)) { field->type = 0; field->value.real = strtod(digits, NULL); }
    else { field->type = 3; field->value.u64 = strtoull(digits, NULL, 0); }
}

/* Fields come by the hundred in one call, so each is kept with its value parsed. */
static struct kept { device_t device; uint generation; field_t field; struct found *found; } kept[FOUND];

static int field_value(device_t device, field_t *field, int *delay) {
    uint slot = (field->field * 64 + field->scope + (uint)(device - devices[0]) * 7919) % FOUND;
    struct kept *it;
    for (; it = kept + slot, it->device; slot = (slot + 1) % FOUND)
        if (it->device == device && it->field.field == field->field && it->field.scope == field->scope) break;
    if (it->generation != generation) {
        char name[24], scope[16];
        sprintf(name, "field.%u", field->field);
        sprintf(scope, "%u", field->scope);
        it->device = device;
        it->generation = generation;
        it->field = *field;
        it->found = find_reading(device, name, scope);
        if (!it->found->code) parse_field(it->found->value, &it->field);
    }
    ++*it->found->count;
    *delay += it->found->delay;
    if (it->found->code) return it->found->code;
    field->type = it->field.type;
    field->value = it->field.value;
    return SUCCESS;
}

int nvmlDeviceGetFieldValues(device_t device, int count, field_t *fields) {
    char text[MAX_TEXT];
    int code = ready(device, fields);
    if (code) return code;
    code = look(device, "nvmlDeviceGetFieldValues", NULL, text);
    if (code && code != NOT_SUPPORTED) return code;
    long long timestamp = (long long)time(NULL) * 1000000;
    int delay = 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        fields[i].timestamp = timestamp;
        fields[i].status = field_value(device, fields + i, &delay);
    }
    pthread_mutex_unlock(&lock);
    if (delay) usleep(delay * 1000);
    return SUCCESS;
}

/* ---- processes ---- */

static uint instance(const char *text) { return *text == '-' ? 0xffffffffu : strtoul(text, NULL, 0); }

static int processes(device_t device, const char *function, const char *kind, uint *count, char *results, int size) {
    char text[MAX_TEXT], owner[48], key[32];
    uint room, found = 0;
    int code = ready(device, count);
    if (code) return code;
    code = look(device, function, NULL, text);
    if (code && code != NOT_SUPPORTED) return code;
    if (device->mig) sprintf(owner, "gpu.%d.mig.%d", device->gpu, device->mig - 1);
    else sprintf(owner, "gpu.%d", device->gpu);
    room = *count;
    pthread_mutex_lock(&lock);
    for (int i = 0; sprintf(key, "process.%d", i), find(key); i++) {
        snprintf(text, sizeof text, "%s", find(key));
        char *rest = text, *part[6];
        for (int j = 0; j < 6; j++) part[j] = (part[j] = strsep(&rest, ",")) ? part[j] : "-";
        int here = !strcmp(part[0], owner) || (!device->mig && !strncmp(part[0], owner, strlen(owner)) &&
                                               part[0][strlen(owner)] == '.');
        if (!here || strcmp(part[1], kind)) continue;
        if (found < room && results) {
            process_t *result = (process_t *)(results + found * size);
            memset(result, 0x55, size);
            result->pid = strtoul(part[2], NULL, 0);
            result->memory = *part[3] == '-' ? ~0ull : strtoull(part[3], NULL, 0);
            result->gpu_instance = instance(part[4]);
            result->compute_instance = instance(part[5]);
        }
        found++;
    }
    pthread_mutex_unlock(&lock);
    *count = found;
    return found > room ? INSUFFICIENT_SIZE : SUCCESS;
}

#define PROCESSES(name, kind, size) int name(device_t device, uint *count, char *results) { \
    return processes(device, #name, kind, count, results, size); }
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, "compute", sizeof(process_t))
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, "graphics", sizeof(process_t))
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2, "mps", sizeof(process_t))

/* ---- the library and its devices ---- */

int nvmlInit_v2(void) {
    char text[MAX_TEXT];
    int code = look(NULL, "nvmlInit_v2", NULL, text);
    if (code && code != NOT_SUPPORTED) return code;
    initialized++;
    return SUCCESS;
}

int nvmlInitWithFlags(uint flags) { (void)flags; return nvmlInit_v2(); }

int nvmlShutdown(void) {
    if (!initialized) return UNINITIALIZED;
    initialized--;
    return SUCCESS;
}

const char *nvmlErrorString(int code) { return code ? "an error of the stand-in" : "Success"; }

static int system_text(const char *function, uint length, char *result) {
    char text[MAX_TEXT];
    if (!initialized) return UNINITIALIZED;
    int code = look(NULL, function, NULL, text);
    if (code) return code;
    if (strlen(text) + 1 > length) return INSUFFICIENT_SIZE;
    strcpy(result, text);
    return SUCCESS;
}

#define SYSTEM(name) int name(char *result, uint length) { return system_text(#name, length, result); }
SYSTEM(nvmlSystemGetDriverVersion) SYSTEM(nvmlSystemGetNVMLVersion)

int nvmlSystemGetCudaDriverVersion_v2(int *result) {
    char text[MAX_TEXT];
    int code = system_text("nvmlSystemGetCudaDriverVersion_v2", MAX_TEXT, text);
    if (!code) *result = atoi(text);
    return code;
}

int nvmlSystemGetCudaDriverVersion(int *result) { return nvmlSystemGetCudaDriverVersion_v2(result); }

int nvmlDeviceGetCount_v2(uint *result) {
    char text[MAX_TEXT];
    if (!initialized) return UNINITIALIZED;
    int code = look(NULL, "nvmlDeviceGetCount_v2", NULL, text);
    if (!code) *result = atoi(text);
    return code;
}

int nvmlDeviceGetHandleByIndex_v2(uint index, device_t *result) {
    char text[MAX_TEXT];
    uint count;
    int code = nvmlDeviceGetCount_v2(&count);
    if (code) return code;
    if (index >= count || index >= MAX_GPUS) return INVALID_ARGUMENT;
    devices[index][0].gpu = index;
    devices[index][0].mig = 0;
    code = look(&devices[index][0], "nvmlDeviceGetHandleByIndex_v2", NULL, text);
    if (code && code != NOT_SUPPORTED) return code;
    *result = &devices[index][0];
    return SUCCESS;
}

static int by_text(const char *function, const char *wanted, device_t *result) {
    char text[MAX_TEXT];
    uint count;
    int code = nvmlDeviceGetCount_v2(&count);
    for (uint i = 0; !code && i < count && i < MAX_GPUS; i++) {
        device_t device;
        if (nvmlDeviceGetHandleByIndex_v2(i, &device) || look(device, function, NULL, text)) continue;
        if (!strcmp(text, wanted)) { *result = device; return SUCCESS; }
    }
    return code ? code : NOT_FOUND;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *result) { return by_text("nvmlDeviceGetUUID", uuid, result); }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, device_t *result) {
    return by_text("nvmlDeviceGetPciInfo_v3", bus_id, result);
}

int nvmlDeviceIsMigDeviceHandle(device_t device, uint *result) {
    int code = ready(device, result);
    if (!code) *result = device->mig != 0;
    return code;
}

int nvmlDeviceGetMigDeviceHandleByIndex(device_t device, uint index, device_t *result) {
    char text[MAX_TEXT];
    int code = ready(device, result);
    if (code) return code;
    if (index >= MAX_MIGS) return INVALID_ARGUMENT;
    device_t mig = &devices[device->gpu][index + 1];
    mig->gpu = device->gpu;
    mig->mig = index + 1;
    code = look(mig, "nvmlDeviceGetUUID", NULL, text);
    if (code) return code == NOT_SUPPORTED ? NOT_FOUND : code;
    *result = mig;
    return SUCCESS;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(device_t device, device_t *result) {
    int code = ready(device, result);
    if (!code) *result = &devices[device->gpu][0];
    return code;
}

/* ---- events ---- */

/* Watch the folder of the state file, so that waiting for an event costs nothing, as with a real driver. */
static int watch_state(void) {
    const char *path = getenv("VLLMWATCH_FAKE_NVML_STATE");
    char folder[4096];
    int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (!path || watch < 0) return watch;
    snprintf(folder, sizeof folder, "%s", path);
    if (inotify_add_watch(watch, dirname(folder), IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE) < 0) {
        close(watch);
        return -1;
    }
    return watch;
}

static void wait_for_change(int watch, int most_ms) {
    char changes[4096];
    struct pollfd waited = { watch, POLLIN, 0 };
    if (watch < 0) { usleep(5000); return; }
    if (poll(&waited, 1, most_ms) <= 0) return;
    while (read(watch, changes, sizeof changes) > 0) {}
    pthread_mutex_lock(&lock);
    looked_at_ms = 0;
    pthread_mutex_unlock(&lock);
}

static int event_count(void) {
    char key[32];
    int count = 0;
    pthread_mutex_lock(&lock);
    refresh();
    while (sprintf(key, "event.%d", count), find(key)) count++;
    pthread_mutex_unlock(&lock);
    return count;
}

int nvmlEventSetCreate(event_set_t *result) {
    if (!initialized) return UNINITIALIZED;
    *result = calloc(1, sizeof **result);
    (*result)->watch = watch_state();
    (*result)->next = event_count(); /* events before this call are not recorded */
    return SUCCESS;
}

int nvmlEventSetFree(event_set_t set) {
    if (set->watch >= 0) close(set->watch);
    free(set);
    return SUCCESS;
}

int nvmlDeviceRegisterEvents(device_t device, ulonglong types, event_set_t set) {
    ulonglong supported;
    int code = nvmlDeviceGetSupportedEventTypes(device, &supported);
    if (code) return code;
    if (types & ~supported) return NOT_SUPPORTED;
    set->types[device->gpu] |= types;
    return SUCCESS;
}

int nvmlEventSetWait_v2(event_set_t set, event_t *result, uint timeout_ms) {
    char text[MAX_TEXT], key[32];
    for (long until = now_ms() + timeout_ms;;) {
        if (!initialized) return UNINITIALIZED;
        int code = look(NULL, "nvmlEventSetWait_v2", NULL, text);
        if (code && code != NOT_SUPPORTED) return code;
        sprintf(key, "event.%d", set->next);
        while (!look(NULL, key, NULL, text)) {
            char *rest = text, *part[4];
            for (int i = 0; i < 4; i++) part[i] = (part[i] = strsep(&rest, ",")) ? part[i] : "-";
            int gpu = atoi(part[0]);
            sprintf(key, "event.%d", ++set->next);
            if (!(set->types[gpu] & strtoull(part[1], NULL, 0))) continue;
            result->device = &devices[gpu][0];
            result->type = strtoull(part[1], NULL, 0);
            result->data = strtoull(part[2], NULL, 0);
            result->gpu_instance = instance(part[3]);
            result->compute_instance = 0xffffffffu;
            return SUCCESS;
        }
        long left = until - now_ms();
        if (left <= 0) return TIMEOUT;
        wait_for_change(set->watch, left);
    }
}

/* ---- what drivers of the 470 line do not have ---- */
#ifndef OLD_DRIVER
LONG(nvmlDeviceGetCurrentClocksEventReasons) LONG(nvmlDeviceGetSupportedClocksEventReasons)
NUMBER(nvmlDeviceGetAddressingMode)
#ifdef WIDE_PROCESSES
enum { PROCESS_BYTES = sizeof(process_t) + sizeof(ulonglong) };
#else
enum { PROCESS_BYTES = sizeof(process_t) };
int nvmlDeviceGetRunningProcessDetailList(device_t device, void *result) { (void)device; (void)result; return NOT_SUPPORTED; }
#endif
PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, "compute", PROCESS_BYTES)
PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics", PROCESS_BYTES)
PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, "mps", PROCESS_BYTES)

int nvmlDeviceGetConfComputeMemSizeInfo(device_t device, void *result) { (void)device; (void)result; return NOT_SUPPORTED; }

int nvmlDeviceGetTemperatureV(device_t device, uint *versioned) { /* version, sensor, temperature */
    if (!versioned || versioned[0] != ((1u << 24) | 12)) return 25;
    int code = number(device, "nvmlDeviceGetTemperatureV", versioned[1], versioned + 2);
    if (code == NOT_SUPPORTED) code = number(device, "nvmlDeviceGetTemperature", versioned[1], versioned + 2);
    return code;
}

int nvmlDeviceGetMemoryInfo_v2(device_t device, ulonglong *result) { /* version, total, reserved, free, used */
    ulonglong values[4];
    if (!result || (uint)result[0] != ((2u << 24) | 40)) return 25;
    int code = numbers(device, "nvmlDeviceGetMemoryInfo_v2", NULL, 4, values);
    if (code == NOT_SUPPORTED) code = numbers(device, "nvmlDeviceGetMemoryInfo", NULL, 4, values);
    if (code) return code;
    for (int i = 0; i < 4; i++) result[i + 1] = values[i];
    return SUCCESS;
}

/* GPU performance monitoring: a sample holds the percentage that the state names. */
int nvmlGpmQueryDeviceSupport(device_t device, uint *versioned) {
    if (!versioned || versioned[0] != 1) return 25;
    int code = number(device, "nvmlGpmQueryDeviceSupport", -1, versioned + 1);
    if (code == NOT_SUPPORTED) { versioned[1] = 0; return SUCCESS; }
    return code;
}

int nvmlGpmSampleAlloc(sample_t *result) { *result = calloc(1, sizeof **result); return SUCCESS; }
int nvmlGpmSampleFree(sample_t sample) { free(sample); return SUCCESS; }

int nvmlGpmMigSampleGet(device_t device, uint gpu_instance, sample_t sample) {
    char argument[16];
    sprintf(argument, "%u", gpu_instance);
    int code = numbers(device, "nvmlGpmMigSampleGet", argument, 1, &sample->reading);
    sample->taken = !code;
    return code;
}

typedef struct { uint id; int status; double value; const char *names[3]; } gpm_metric_t;
typedef struct { uint version, count; sample_t first, second; gpm_metric_t metrics[]; } gpm_metrics_t;

int nvmlGpmMetricsGet(gpm_metrics_t *request) {
    if (!initialized) return UNINITIALIZED;
    if (request->version != 1) return 25;
    if (!request->first->taken || !request->second->taken) return INVALID_ARGUMENT;
    for (uint i = 0; i < request->count; i++) { /* metric 1: percent of time that any engine was busy */
        gpm_metric_t *metric = request->metrics + i;
        metric->status = metric->id == 1 ? SUCCESS : NOT_SUPPORTED;
        metric->value = (double)request->second->reading;
    }
    return SUCCESS;
}
#endif
