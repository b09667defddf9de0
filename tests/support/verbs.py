"""Verbs that a docstring may begin with. Add the verb that is missing; a noun is no verb."""

from __future__ import annotations

from typing import Final

__all__ = ["VERBS"]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


VERBS: Final = _words(
    """
    abort accept acknowledge acquire adapt add adjust admit adopt advance aggregate agree allocate
    allow annotate announce answer append apply approve ask assemble assert assign assume attach
    await authorize back balance batch begin bind block bound break bring broadcast buffer build
    bump
    cache calculate call cancel capture carry cast catch change charge check choose claim clean
    clear clip close collapse collect combine come commit compare compile complete compose
    compress compute confirm connect consider construct consume continue convert copy correct
    count create cut deactivate decide declare decode decompress decrement decrypt deduplicate
    default defer define delay delegate delete deliver demand derive describe deserialize destroy
    detach detect determine disable discard disconnect discover dispatch display do download drain
    draw drop dump emit enable encode encrypt end enforce ensure enter enumerate erase escape
    establish estimate evaluate evict examine exchange exclude execute exit expand expect expire
    explain export expose extend extract fail fall fetch fill filter finalize find finish fire fit
    fix flatten flush fold follow forbid force forget format forward free freeze generate get give
    go grant group guard guess halt halve hand handle hang hash hide hold honor identify ignore
    import include increase increment indent infer inherit init initialize inject insert inspect
    install interpret intersect invalidate invoke iterate join judge keep kill label lay lead
    leave let lift limit link list listen load locate lock log look lower make map mark mask match
    measure merge migrate mirror mount move name narrow negotiate normalize note notify number
    offer omit open order overwrite pack pad paint pair parse partition pass patch pause permit
    persist pick place plan play poll pop populate post prefix prepare prepend preserve prevent
    print probe proceed process produce prompt propagate protect prove provide prune publish pull
    push put query queue quote raise rank reach read rebuild receive recognize reconnect record
    recover redirect reduce refresh refuse register reject relay release reload remember remove
    rename renew render reopen repair repeat replace replay reply report request require reschedule
    reserve reset resolve respond restart restore restrict resume retrieve retry return reuse
    reveal revert revoke rewrite roll rotate round route run sample save say scan schedule seal
    search select send separate serialize serve set settle share shift shorten show shrink shut sign
    signal simplify skip sleep slice sort spawn speak spell split spread stamp start state stay
    steal step stop store stream strip submit subscribe substitute subtract suggest summarize
    supply suppress suspend swap switch synchronize take tell terminate test throw time toggle
    touch trace track transfer transform translate traverse treat trim truncate try turn unblock
    undo unescape unfold unpack unregister unsubscribe unwrap update upgrade upload use validate
    verify visit wait wake walk warn watch weigh widen withdraw wrap write yield
    """
)
