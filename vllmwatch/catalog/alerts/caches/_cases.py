"""Cases of a share of tokens that falls to less than half of what it was in the day before."""

from vllmwatch.catalog.recordings.stories.words import MODEL, of_engine
from vllmwatch.spec.case import Case, at, fires, flowing, messy, quiet, then
from vllmwatch.spec.story import Series

_LONG, _AFTER = "6h30m", "100m"


def cases_of_a_drop(part: str, whole: str, each_second: float) -> tuple[Case, ...]:
    """Return the cases of an alert that asks for a share of more than a fifth of so many tokens a second or more.

    What is held against it is at least six hours old; it holds for half an hour, as long as the share looks back.
    """

    def tokens(tokens: float, before: float, now: float, **labels: str) -> tuple[Series, Series]:
        each = tokens * each_second
        return (
            of_engine(part, flowing((before * each, _LONG), (now * each, _AFTER)), **labels),
            of_engine(whole, flowing((each, _LONG), (each, _AFTER)), **labels),
        )

    return (
        fires(
            "half were, and a tenth is",
            *tokens(2, 0.5, 0.1),
            at("6h50m"),
            at("8h", {"model_name": MODEL}),
        ),
        quiet(
            "half were, and 0.3 are; 0.15 were, and 0.01 are; half were, and a tenth of few is; for half an hour",
            *tokens(2, 0.5, 0.3, model_name="less"),
            *tokens(2, 0.15, 0.01, model_name="never many"),
            *tokens(0.6, 0.5, 0.1, model_name="few"),
            *tokens(2, 0.5, 0.5, engine="0", model_name="once")[1:],
            of_engine(
                part,
                flowing((each_second, _LONG), (0.1 * each_second, "30m"), (each_second, "70m")),
                model_name="once",
            ),
            at("7h15m"),
            at("7h30m"),
            at("8h"),
        ),
        messy(
            "a restart is no drop, nor are an idle engine, a second scrape, no traffic, and a model of this morning",
            *(
                Series(each.selector, then(each.values, each.values))
                for each in (
                    of_engine(part, flowing((each_second, "4h")), model_name="restarted"),
                    of_engine(whole, flowing((2 * each_second, "4h")), model_name="restarted"),
                )
            ),
            *tokens(2, 0.5, 0.45, model_name="two"),
            *tokens(2, 0.5, 0.1, model_name="two", job="again")[1:],
            *tokens(0, 0, 0, model_name="two", engine="1"),
            *tokens(0, 0, 0, model_name="idle"),
            *(
                Series(each.selector, f"_x1000 {each.values}")
                for each in (
                    of_engine(part, flowing((each_second, "2h"), (0, "3h")), model_name="new"),
                    of_engine(whole, flowing((2 * each_second, "5h")), model_name="new"),
                )
            ),
            *tokens(2, 0.5, 0.1),
            at("7h"),
            at("8h", {"model_name": MODEL}),
        ),
    )
