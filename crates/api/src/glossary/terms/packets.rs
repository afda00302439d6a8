//! What names mean in commands, codes and events of red packets.

use super::{Term, Unit, figure, word};
use Unit::{MinorUnits, Packets, StampMs};

pub(super) const TERMS: &[Term] = &[
    figure("PACKET", "amount", MinorUnits, "the amount in the packet", "红包金额"),
    figure("PACKET", "count", Packets, "number of packets in the campaign", "红包总个数"),
    figure("PACKET", "total", MinorUnits, "total amount of all packets", "红包总金额"),
    figure("PACKET", "min", MinorUnits, "minimum amount of a packet", "单个红包的最小金额"),
    figure(
        "PACKET.CREATE",
        "min",
        MinorUnits,
        "minimum amount of a packet; 1 by default",
        "单个红包的最小金额，默认 1",
    ),
    figure(
        "PACKET",
        "max",
        MinorUnits,
        "maximum amount of a packet; no limit if absent",
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
        "number of the last packet on the previous page",
        "上一页最后一个红包的序号",
    ),
    figure(
        "PACKET.CLAIMS",
        "count",
        Packets,
        "maximum number on a page, 10000 at most",
        "每页最多返回多少个，不超过 10000",
    ),
    figure("PACKET.CLAIMED", "at", StampMs, "when it was claimed", "领取时刻"),
    figure(
        "packets.filled",
        "count",
        Packets,
        "number of packets prepared in this chunk",
        "本批生成的红包个数",
    ),
];
