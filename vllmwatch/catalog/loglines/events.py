"""What in a log of vLLM tells that something went wrong. The first that matches a line holds, so causes stand first.

Texts of vLLM were read in 0.32 and in issues about earlier releases; those of PyTorch, NCCL and the CUDA runtime are
theirs, and reach the log within tracebacks.
"""

from vllmwatch.spec.logline import Event, Grade, LogSource

_VLLM = LogSource.VLLM

VLLM_EVENTS: tuple[Event, ...] = (
    Event(
        "cuda_out_of_memory",
        _VLLM,
        Grade.FAULT,
        "a GPU had no memory left",
        "Lower --gpu-memory-utilization, --max-num-seqs or --max-num-batched-tokens, and look who else uses the GPU.",
        r"CUDA out of memory|CUDA error: out of memory|torch\.(?:cuda\.)?OutOfMemoryError|"
        "not enough GPU memory|HIP out of memory|CUBLAS_STATUS_ALLOC_FAILED",
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.",
            "RuntimeError: CUDA error: out of memory",
            "Failed to load model - not enough GPU memory. Try lowering --gpu-memory-utilization to free memory",
        ),
        (
            "To reduce the risk of running out of memory, lower --gpu-memory-utilization",
            "Out of memory: Killed process 4711 (python3)",
        ),
    ),
    Event(
        "kv_cache_too_small",
        _VLLM,
        Grade.FAULT,
        "the GPU has too little memory for the KV cache, so that the server did not start",
        "Lower --max-model-len, raise --gpu-memory-utilization, or free the GPU of others.",
        r"No available memory for the cache blocks|KV cache is needed, which is larger than|"
        r"is less than desired GPU memory utilization|larger than the maximum number of tokens that can be stored",
        (
            "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`",
            (
                "Free memory on device cuda:0 (3.1/23.6 GiB) on startup is less than desired GPU memory utilization "
                "(0.92, 21.7 GiB)."
            ),
            (
                "The model's max seq len (32768) is larger than the maximum number of tokens that can be stored in KV "
                "cache (9152)."
            ),
        ),
        ("Available KV cache memory: 8.00 GiB", "GPU KV cache usage: 99.9%"),
    ),
    Event(
        "cuda_error",
        _VLLM,
        Grade.FAULT,
        "a program on a GPU met an error from which it does not come back",
        "Look for XIDs in the kernel's log at that time; restart the server, and reset the GPU where XIDs ask for it.",
        "illegal memory access|device-side assert|unspecified launch failure|misaligned address|"
        "uncorrectable ECC error|CUDA error: an illegal instruction|CUDA error: the launch timed out|"
        "CUDA error: unknown error|CUBLAS_STATUS_EXECUTION_FAILED|CUBLAS_STATUS_NOT_INITIALIZED|HIP error: ",
        (
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "torch.AcceleratorError: CUDA error: device-side assert triggered",
        ),
        ("For debugging consider passing CUDA_LAUNCH_BLOCKING=1", "CUDA error: out of memory"),
    ),
    Event(
        "driver_mismatch",
        _VLLM,
        Grade.FAULT,
        "the driver and the CUDA of the program do not fit, or the driver is not ready",
        "Compare nvidia-smi with the CUDA that vLLM was built for; after an update of the driver, reboot.",
        "NVIDIA driver on your system is too old|CUDA driver version is insufficient|"
        "[Dd]river/library version mismatch|forward compatibility was attempted on non supported HW|"
        "system not yet initialized|Found no NVIDIA driver|"
        "no kernel image is available for execution|No CUDA GPUs are available|Failed to infer device type",
        (
            "RuntimeError: The NVIDIA driver on your system is too old (found version 12020).",
            "RuntimeError: CUDA error: no kernel image is available for execution on the device",
        ),
        ("Automatically detected platform cuda.",),
    ),
    Event(
        "collective_timeout",
        _VLLM,
        Grade.FAULT,
        "the workers of an engine waited for each other in vain",
        "Look which rank is missing or slow: its GPU, its NVLink, its process; then restart the server.",
        r"Watchdog caught collective operation timeout|Some NCCL operations have failed or timed out|"
        r"RPC call to \S+ timed out|collective operation (?:timed out|timeout)",
        (
            (
                "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2, OpType=ALLREDUCE) ran for "
                "600059 milliseconds before timing out."
            ),
            "TimeoutError: RPC call to execute_model timed out.",
        ),
        ("NCCL version 2.27.5", "Timeout keep alive 5"),
    ),
    Event(
        "nccl_error",
        _VLLM,
        Grade.FAULT,
        "GPUs could not talk to each other",
        "Start with NCCL_DEBUG=INFO, and look at NVLink, PCIe and the network between nodes.",
        "NCCL error|nccl(?:UnhandledCuda|System|Internal|Remote|InvalidUsage)Error|DistBackendError",
        (
            "RuntimeError: NCCL error: unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
            "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:1970",
        ),
        ("vLLM is using nccl==2.27.5", "Found nccl from library libnccl.so.2"),
    ),
    Event(
        "host_out_of_memory",
        _VLLM,
        Grade.FAULT,
        "the host had no memory left for the server",
        "Look at the host's memory and at the limit of the container; --swap-space and CPU offload count too.",
        "(?:^|[^A-Za-z])MemoryError|DefaultCPUAllocator: (?:can't|not enough)|Cannot allocate memory|std::bad_alloc",
        (
            "OSError: [Errno 12] Cannot allocate memory",
            "RuntimeError: [enforce fail at alloc_cpu.cpp:118] DefaultCPUAllocator: can't allocate memory",
        ),
        ("torch.OutOfMemoryError: CUDA out of memory.",),
    ),
    Event(
        "disk_full",
        _VLLM,
        Grade.FAULT,
        "a disk is full",
        "Free the disk of models and of vLLM's compile cache; in a container raise the size of /dev/shm too.",
        "No space left on device",
        ("OSError: [Errno 28] No space left on device",),
        ("Checkpoint size: 0.00 GiB",),
    ),
    Event(
        "too_many_open_files",
        _VLLM,
        Grade.FAULT,
        "the server ran out of open files, so that it refuses connections",
        "Raise the limit (ulimit -n, LimitNOFILE of the unit, ulimits of the container).",
        r"(?:^|[^`])OSError: \[Errno 24\]|socket\.accept\(\) out of system resource",
        ("OSError: [Errno 24] Too many open files", "socket.accept() out of system resource"),
        (
            (
                "Found ulimit of 20000 and failed to automatically increase. This can cause fd limit errors like "
                "`OSError: [Errno 24] Too many open files`."
            ),
        ),
    ),
    Event(
        "model_not_found",
        _VLLM,
        Grade.FAULT,
        "the model could not be had, so that the server did not start",
        "Check the name or the path, HF_TOKEN for gated models, and the network.",
        "is not a local folder and is not a valid model identifier|RepositoryNotFoundError|GatedRepoError|"
        "LocalEntryNotFoundError|Cannot find any model weights|Invalid repository ID or local directory|"
        "couldn't connect to 'https://huggingface.co'|No such file or directory: \\S*config.json",
        (
            "OSError: org/absent is not a local folder and is not a valid model identifier listed on Hugging Face",
            "huggingface_hub.errors.GatedRepoError: 401 Client Error.",
        ),
        ("The model `org/absent` does not exist.", 'POST /v1/completions HTTP/1.1" 404 Not Found'),
    ),
    Event(
        "unsupported_flag",
        _VLLM,
        Grade.FAULT,
        "the command line was refused, so that the server did not start",
        "Flags come and go with releases of vLLM: compare with `vllm serve --help=all`.",
        "error: unrecognized arguments: |error: argument --?[A-Za-z]|error: the following arguments are required",
        (
            "vllm: error: unrecognized arguments: --swap-space 4",
            "vllm serve: error: argument --kv-cache-dtype: invalid choice: 'int8'",
        ),
        ("non-default args: {'port': 8111}",),
    ),
    Event(
        "port_in_use",
        _VLLM,
        Grade.FAULT,
        "the port is taken, so that the server did not start",
        "Look who listens (ss -ltnp), often an older server that was not stopped.",
        "[Aa]ddress already in use",
        (
            "OSError: [Errno 98] Address already in use",
            "[Errno 98] error while attempting to bind on address ('0.0.0.0', 8000): address already in use",
        ),
        ("Starting vLLM server on http://0.0.0.0:8000",),
    ),
    Event(
        "worker_died",
        _VLLM,
        Grade.FAULT,
        "a worker of an engine died",
        "The lines before tell why; an exit code of -9 is the kernel's out-of-memory killer.",
        r"Worker proc \S+ died|WorkerProc hit an exception|WorkerProc failed to start|"
        r"Process \S+ \(PID: [0-9]+\) died|Worker \S+ pid [0-9]+ died|ActorDiedError|worker died unexpectedly",
        (
            "Worker proc VllmWorker-1 died unexpectedly (exit code: -9), shutting down executor.",
            "Worker VllmWorkerProcess pid 1159 died, exit code: -6",
            "RuntimeError: Process RustFrontend (PID: 740) died with exit code 2",
        ),
        ("WorkerProc shutting down.", "Parent process exited, terminating worker queues"),
    ),
    Event(
        "engine_start_failed",
        _VLLM,
        Grade.FAULT,
        "an engine did not start",
        "The lines before tell why.",
        "EngineCore failed to start|Engine core initialization failed|Engine process failed to start",
        (
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
            "EngineCore failed to start.",
        ),
        ("Initializing a V1 LLM engine (v0.32.0) with config: model='m'",),
    ),
    Event(
        "engine_dead",
        _VLLM,
        Grade.FAULT,
        "an engine died, and with it every request that it held",
        "The lines before tell why; the server ends by itself and must be started again.",
        "EngineCore encountered a fatal error|engine core exited unexpectedly|"
        r"Engine core proc(?:ess)? \S+ died unexpectedly|Engine loop (?:has died|is not running)|"
        "Background loop (?:has errored|is not running)|Engine iteration timed out",
        (
            "EngineCore encountered a fatal error.",
            "[shutdown] MPClient: engine core exited unexpectedly; starting cleanup",
            "Engine core proc EngineCore_0 died unexpectedly, shutting down client.",
            "RuntimeError: Engine core process EngineCore_DP0 died unexpectedly.",
            "vllm.engine.multiprocessing.MQEngineDeadError: Engine loop is not running.",
            "vllm.engine.async_llm_engine.AsyncEngineDeadError: Background loop has errored already.",
        ),
        ("[shutdown] MPClient: complete", "Request cmpl-1-0 failed (engine dead)."),
    ),
    Event(
        "engine_gone",
        _VLLM,
        Grade.HINT,
        "a server has no engine any more, which is so too when it is stopped",
        "Where nobody stopped it, the lines before tell why.",
        "EngineDeadError|AsyncLLM output_handler failed",
        (
            "AsyncLLM output_handler failed.",
            "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue.",
        ),
        ("Shutting down",),
    ),
    Event(
        "engine_waits",
        _VLLM,
        Grade.HINT,
        "an engine has waited for its workers for a minute or more: it hangs, or compiles",
        "Look whether tokens still come; py-spy dump --pid of each worker shows where it stands.",
        "No available shared memory broadcast block found",
        ("No available shared memory broadcast block found in 60 seconds. This typically happens when some processes",),
        ("vLLM message queue communication handle: Handle(local_reader_ranks=[1])",),
    ),
)

KERNEL_EVENTS: tuple[Event, ...] = (
    Event(
        "gpu_fallen_off_bus",
        LogSource.KERNEL,
        Grade.FAULT,
        "a GPU has fallen off the bus",
        "Reboot the host; where it comes back, check power, risers and temperature.",
        r"NVRM: .*fallen off the bus|NVRM: Xid \([^)]*\): 79\b",
        (
            "NVRM: Xid (PCI:0000:44:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            "NVRM: GPU 0000:a1:00.0: GPU has fallen off the bus.",
            "NVRM: fallen off the bus and is not responding to commands.",
        ),
        ("NVRM: Xid (PCI:0000:44:00): 31, pid=79, name=python3",),
    ),
    Event(
        "xid",
        LogSource.KERNEL,
        Grade.HINT,
        "the driver told of an event of a GPU",
        "The runbooks of GpuXidCritical and GpuXidApplication say what each number means.",
        r"NVRM: Xid \(",
        (
            "NVRM: Xid (PCI:0000:04:00): 63, Row Remapper: New row marked for remapping",
            "NVRM: Xid (0000:03:00): 14, Channel 00000001",
        ),
        ("NVRM: loading NVIDIA UNIX x86_64 Kernel Module",),
    ),
    Event(
        "process_killed_for_memory",
        LogSource.KERNEL,
        Grade.FAULT,
        "the kernel killed a process since memory ran out",
        "Look which process it names; a container's limit counts as memory too.",
        "(?:Out of memory|Memory cgroup out of memory): Kill(?:ed)? process [0-9]+",
        (
            "Out of memory: Killed process 4711 (VLLM::EngineCor) total-vm:99kB",
            "Memory cgroup out of memory: Killed process 12 (python3)",
        ),
        ("oom_reaper: reaped process 4711", "CUDA out of memory. Tried to allocate 2.00 GiB."),
    ),
    Event(
        "driver_versions_differ",
        LogSource.KERNEL,
        Grade.FAULT,
        "the driver in the kernel and the driver's library are of two versions",
        "Reboot, or reload the driver, after an update of its packages.",
        "NVRM: API mismatch",
        ("NVRM: API mismatch: the client has the version 590.44, but this kernel module has the version 580.95",),
        ("NVRM: loading NVIDIA UNIX x86_64 Kernel Module  590.44",),
    ),
)
