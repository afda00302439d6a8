//! What names mean in commands, codes and events of red packets.

use super::{Term, Unit, figure, word};
use Unit::{MinorUnits, Packets, StampMs};

pub(super) const TERMS: &[Term] = &[
    figure("PACKET", "amount", MinorUnits, "what is in the packet", "红包金额"),
    figure("PACKET", "count", Packets, "how many packets the campaign has", "红包总个数"),
    figure("PACKET", "total", MinorUnits, "what all packets sum to", "红包总金额"),
    figure("PACKET", "min", MinorUnits, "the least that a packet holds", "单个红包的最小金额"),
    figure(
        "PACKET.CREATE",
        "min",
        MinorUnits,
        "the least that a packet holds; 1 if not said",
        "单个红包的最小金额，默认 1",
    ),
    figure(
        "PACKET",
        "max",
        MinorUnits,
        "the most that a packet may hold; unbounded if absent",
        "单个红包的最大金额；无值表示不限",
    ),
    word(
        "PACKET",
        "status",
        "open, not_started, ended, exhausted or closed",
        "open（可领）、not_started（未开始）、ended（已结束）、exhausted（已领完）或 closed（已关闭）",
    ),
    figure(
        "PACKET.CLAIMS",
        "after",
        Packets,
        "the number of the last packet of the page before",
        "上一页最后一个红包的序号",
    ),
    figure("PACKET.CLAIMS", "count", Packets, "how many a page has at most", "每页最多个数"),
    figure("PACKET.CLAIMED", "at", StampMs, "when it was claimed", "领取时刻"),
    figure("packets.filled", "count", Packets, "how many packets were laid ready", "本批备好的红包个数"),
];
