"""Whose a requirement is: ours now, ours later, or not ours, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import partial
from typing import Final

from tests.spec.ledger import Row

__all__ = ["RULES", "Area", "Named", "Rule", "rule_of"]


class Area(StrEnum):
    NOW = "ours now"
    NOT_OURS = "not ours"


@dataclass(frozen=True, slots=True)
class Rule:
    """Sorts the rows that fit into an area; `why` says what they have in common."""

    area: Area
    why: str
    fits: Callable[[Row], bool]


class Named:
    """Fits rows whose id matches a pattern."""

    def __init__(self, *patterns: str) -> None:
        self.patterns = patterns

    def __call__(self, row: Row) -> bool:
        return any(fnmatchcase(row.id, pattern) for pattern in self.patterns)


def _how(how: str, row: Row) -> bool:
    return row.how == how


NOW: Final = Rule(Area.NOW, "a rule of the protocol", lambda row: True)

RULES: Final = (
    Rule(
        Area.NOT_OURS,
        "asked of a host, an authorization server or something in between, not of client or server",
        lambda row: not row.roles & {"client", "server"},
    ),
    Rule(Area.NOT_OURS, "needs a user interface, which is the host's", partial(_how, "human")),
    Rule(Area.NOT_OURS, "a choice of deployment or documentation", partial(_how, "ops")),
    Rule(
        Area.NOT_OURS,
        "an OAuth proxy, which is a server's own program",
        Named("security.proxy.*", "security.stdio-proxy.*"),
    ),
    Rule(
        Area.NOT_OURS,
        "asked of a server that is its own authorization server, which nothing here is",
        Named(
            "auth.discovery.default-paths.server",
            "auth.discovery.server-metadata",
            "auth.grants",
            "auth.redirect.checked",
            "auth.status.bad-request",
            "auth.third-party.*",
            "auth.token.rotation-advised",
        ),
    ),
    Rule(
        Area.NOT_OURS,
        "asked of who begins tasks of the core; the client begins those of the extension alone",
        Named(
            "tasks.audit.requestor-*",
            "tasks.cancel.no-retention",
            "tasks.capability.augment-declared-only",
            "tasks.capability.client-keys",
            "tasks.capability.none",
            "tasks.get.beside-result",
            "tasks.get.interval",
            "tasks.get.until-end",
            "tasks.input.any-stream",
            "tasks.input.fetch",
            "tasks.list.cursor-opaque",
            "tasks.notify.*",
            "tasks.related.requestor-omits",
            "tasks.tool.forbidden",
            "tasks.tool.required",
            "tasks.tool.server-incapable",
        ),
    ),
    Rule(
        Area.NOT_OURS,
        "icons are passed on; nothing here fetches or shows one",
        Named("icons.security.*", "icons.*absent-means-any"),
    ),
    Rule(
        Area.NOT_OURS,
        "the client polls for nothing",
        Named("caching.polling.*"),
    ),
    Rule(
        Area.NOT_OURS,
        "what the model does, and what it is given, is the business of the host's handler",
        Named(
            "sampling.context.meaning",
            "sampling.hints.before-priorities",
            "sampling.hints.order",
            "sampling.hints.respected",
            "sampling.hints.substring-match",
            "sampling.max-tokens.upper-bound",
            "sampling.messages.not-retained",
            "sampling.parameters.metadata-passthrough",
            "sampling.tool-choice.*",
            "sampling.tool-use.input-conforms",
            "tools.call.execution-error-to-model",
        ),
    ),
    Rule(
        Area.NOT_OURS,
        "what a host concludes or shows from what the client hands it",
        Named(
            "architecture.isolation",
            "completion.client.*",
            "elicitation.form.enum-names",
            "elicitation.form.prefill-defaults",
            "metadata.title.fallback-to-name",
            "stateless.process-lifetime",
            "tools.annotations.*",
            "tools.display-name.precedence",
            "tools.name.aggregator-disambiguates",
            "tools.name.no-server-name-disambiguation",
            "versioning.era.persist",
        ),
    ),
    Rule(
        Area.NOT_OURS,
        "what a server's author writes into a message",
        Named(
            "completion.fuzzy-matching",
            "completion.values.sorted-by-relevance",
            "elicitation.form.no-clickable-urls",
            "elicitation.oauth.credentials-stay-off-client",
            "elicitation.url.no-user-data",
            "meta.key.reverse-dns",
            "progress.message",
            "resources.templates.uniform-mime-type",
        ),
    ),
    Rule(
        Area.NOT_OURS,
        "a failure that cannot happen: to set a level of log messages is an assignment",
        Named("logging.request-level.internal-error", "logging.set-level.configuration-error"),
    ),
    Rule(
        Area.NOT_OURS,
        "there is no mode that fetches remote schemas",
        Named("jsonschema.ref.opt-in-hosts", "jsonschema.ref.opt-in-l*"),
    ),
    NOW,
)
"""The first that fits decides."""


def rule_of(row: Row) -> Rule:
    """The first rule that fits."""
    return next(rule for rule in RULES if rule.fits(row))
