//! What names mean in commands, codes and events of markets and orders.

use super::{Term, Unit, figure, word};
use Unit::{BaseUnits, Price};

pub(super) const TERMS: &[Term] = &[
    word(
        "MARKET.DEPTH",
        "sequence",
        "sequence of the partition's last event that the book shows",
        "盘口所反映的分区最后一个事件的序号",
    ),
    word("MARKET.TRADES", "trades", "the latest trades, newest first", "最近成交，最新的在前"),
    word(
        "MARKET.TRADES",
        "count",
        "maximum number of trades; the last hundred are kept",
        "最多返回笔数；共保留一百笔",
    ),
    figure(
        "MARKET.CREATE",
        "tick",
        Price,
        "prices must be a multiple of it; 1 by default",
        "最小变动价位：价格必须是它的整数倍，默认 1",
    ),
    figure(
        "MARKET.CREATE",
        "lot",
        BaseUnits,
        "order quantities must be a multiple of it; 1 by default",
        "最小数量单位：数量必须是它的整数倍，默认 1",
    ),
    figure(
        "MARKET.CREATE",
        "min_quantity",
        BaseUnits,
        "the smallest order quantity; 1 by default",
        "单笔订单的数量下限，默认 1",
    ),
    figure(
        "MARKET.CREATE",
        "max_quantity",
        BaseUnits,
        "the largest order quantity; 2^53 − 1 by default",
        "单笔订单的数量上限，默认 2^53 − 1",
    ),
    word("MARKET", "status", "open or halted", "open（交易中）或 halted（已暂停）"),
    word("ORDER", "owner", "ID of the order's owner", "订单所属用户 ID"),
    figure("ORDER", "quantity", BaseUnits, "the quantity to trade", "委托数量"),
    figure("ORDER", "remaining", BaseUnits, "unfilled quantity", "未成交的剩余数量"),
    word(
        "ORDER",
        "reason",
        "why the order ended unfilled: requested, unfilled or self_trade; absent if it did not",
        "带剩余量结束的原因：requested（主动撤单）、unfilled（未能成交）或 self_trade（自成交保护）；没有则无值",
    ),
    word(
        "ORDER",
        "status",
        "open, partially_filled, filled or cancelled",
        "open（未成交）、partially_filled（部分成交）、filled（全部成交）或 cancelled（已撤销）",
    ),
    figure("ORDER.GET", "price", Price, "the limit price; absent for a market order", "限价；市价单无值"),
    word(
        "ORDER.GET",
        "stp",
        "the self-trade prevention of the order when it is the incoming one",
        "该订单作为吃单方时的自成交保护方式",
    ),
    word("ORDER.GET", "tif", "time in force: GTC, IOC, FOK or POST", "订单有效方式：GTC、IOC、FOK 或 POST"),
    figure("ORDER.REPLACE", "price", Price, "the new price", "新价格"),
    figure("ORDER.REPLACE", "quantity", BaseUnits, "the new remaining quantity", "新的剩余数量"),
    figure("ORDER.CANCEL", "remaining", BaseUnits, "quantity that was unfilled", "撤单时未成交的数量"),
    figure("QUANTITY_INVALID", "min", BaseUnits, "the smallest order quantity", "单笔订单的数量下限"),
    figure("QUANTITY_INVALID", "max", BaseUnits, "the largest order quantity", "单笔订单的数量上限"),
    figure("order.placed", "price", Price, "the limit price; absent for a market order", "限价；市价单无值"),
    figure("order.replaced", "quantity", BaseUnits, "the new remaining quantity", "新的剩余数量"),
    figure(
        "order.traded",
        "price",
        Price,
        "the maker's price, that is, of the resting order",
        "成交价，即挂单方价格",
    ),
    figure("order.traded", "quantity", BaseUnits, "quantity traded", "成交数量"),
];
