//! A sentence about each command and each event: the English is in the tables, the Chinese is here.

use scarce_core::command::COMMANDS;
use scarce_core::event::EVENTS;
use scarce_core::language::Text;

/// What a command does; `None` if there is no such command.
#[must_use]
pub fn command_summary(name: &str) -> Option<Text> {
    let spec = COMMANDS.iter().find(|spec| spec.name == name)?;
    chinese(COMMANDS_ZH, name).map(|zh| Text::new(spec.summary, zh))
}

/// What an event says; `None` if there is no such event.
#[must_use]
pub fn event_summary(name: &str) -> Option<Text> {
    let spec = EVENTS.iter().find(|spec| spec.name == name)?;
    chinese(EVENTS_ZH, name).map(|zh| Text::new(spec.summary, zh))
}

fn chinese(rows: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    rows.iter().find(|(its, _)| *its == name).map(|(_, text)| *text)
}

/// The commands in Chinese.
pub(crate) const COMMANDS_ZH: &[(&str, &str)] = &[
    ("ACCOUNT.OPEN", "开户，一个账户只记一种资产。"),
    ("ACCOUNT.GET", "查询账户：余额、预扣合计与状态。"),
    ("ACCOUNT.CREDIT", "入账：资金从外部进入账户。"),
    ("ACCOUNT.DEBIT", "扣款：余额足够才扣。"),
    ("ACCOUNT.TRANSFER", "在两个同资产账户之间转账。"),
    ("ACCOUNT.HOLD", "预扣一笔资金，直到实扣、取消或过期。"),
    ("ACCOUNT.CAPTURE", "从预扣中实扣，转给账户或转出到外部；剩余部分解除或继续预扣。"),
    ("ACCOUNT.VOID", "取消预扣，资金恢复可用。"),
    ("ACCOUNT.EXTEND", "为预扣重设过期时刻，从当前时刻起算。"),
    ("ACCOUNT.HOLDS", "按名称顺序分页列出账户的预扣单：名称、剩余金额、状态、过期时刻。"),
    ("ACCOUNT.FREEZE", "冻结账户：停止扣款与新的预扣。"),
    ("ACCOUNT.UNFREEZE", "解冻账户：恢复扣款与预扣。"),
    ("ACCOUNT.CLOSE", "销户：余额为零才可以，且不可撤销。"),
    ("ACCOUNT.OVERDRAFT", "设置透支额度。"),
    ("ACCOUNT.WORLD", "查询外部账户：某资产的资金由它进入资源所在的分区。"),
    ("ACCOUNT.LIST", "按名称顺序分页列出账户：账户、资产、余额、预扣、可用、状态。"),
    ("STOCK.CREATE", "上架一个按件计数的商品。"),
    ("STOCK.GET", "查询库存：各项计数、限购、起止时刻与状态。"),
    ("STOCK.RESTOCK", "补货。"),
    ("STOCK.ADJUST", "调整库存，可增可减，须注明原因。"),
    ("STOCK.TAKE", "立即卖出，并给出每件的序列号。"),
    ("STOCK.RESERVE", "为用户预占库存，过期自动释放。"),
    ("STOCK.CONFIRM", "确认预占：卖出并给出每件的序列号。"),
    ("STOCK.RELEASE", "释放预占，商品恢复可售。"),
    ("STOCK.EXTEND", "为预占重设过期时刻，从当前时刻起算。"),
    ("STOCK.RETURN", "按序列号退货，同等件数恢复可售。"),
    ("STOCK.CLOSE", "停止销售；已有的预占仍可确认，或等待过期。"),
    ("STOCK.AUDIT", "用销售凭证复核库存计数；每次只清点有限的一段，不影响销售。"),
    ("STOCK.RESERVATION", "查询一笔预占。"),
    ("STOCK.LIST", "按名称顺序分页列出商品：商品、总量、可售、预占、已售、状态。"),
    ("PACKET.CREATE", "按方案拆分红包或逐个指定金额，并开放领取。"),
    ("PACKET.CLAIM", "把下一个红包发给用户，发出后归该用户所有。"),
    ("PACKET.GET", "查询红包活动：已领与剩余，不会透露尚未领取的红包金额。"),
    ("PACKET.CLOSE", "结束活动，报告剩余，并公开种子。"),
    ("PACKET.CLAIMS", "按领取顺序分页列出已领取的红包：用户、序号、金额、时刻。"),
    ("PACKET.LIST", "按名称顺序分页列出红包活动：活动、资产、个数、总额、已领个数、已领金额、状态。"),
    ("PACKET.CLAIMED", "查询用户领到的红包。"),
    ("COUPON.CREATE", "创建优惠券，可带任意多条限额。"),
    ("COUPON.UPDATE", "在发放过程中修改限额上限或新增限额。"),
    ("COUPON.CLAIM", "领券：所有限额各计一次，并给出领取编号。"),
    ("COUPON.CHECK", "试运行一次领取，返回将会得到的结果，不改变任何状态。"),
    ("COUPON.REDEEM", "核销一次领取。"),
    ("COUPON.REVOKE", "作废未使用的领取；可要求退还窗口尚未结束的限额计数。"),
    ("COUPON.CLAIMED", "查询一次领取。"),
    ("COUPON.GET", "查询优惠券及其限额。"),
    ("COUPON.LIST", "按名称顺序分页列出优惠券：优惠券、状态、已领取数。"),
    ("COUPON.PAUSE", "暂停领取。"),
    ("COUPON.RESUME", "恢复领取。"),
    ("MARKET.CREATE", "开设市场，订单簿为空。"),
    ("MARKET.GET", "查询市场：规则、状态、最优买卖价、累计成交笔数。"),
    ("MARKET.HALT", "暂停交易；撤单与减量照常。"),
    ("MARKET.RESUME", "恢复交易。"),
    ("MARKET.TRADES", "列出最近成交，最新的在前；最多保留一百笔：成交号、价格、数量、吃单方向、时刻。"),
    ("MARKET.LIST", "按名称顺序分页列出市场：市场、状态、最优买价、最优卖价、挂单数、成交数。"),
    ("MARKET.TICKER", "查询行情：最近一笔成交，以及最优价与其数量。"),
    ("MARKET.DEPTH", "查询盘口深度，最优价在前：价格、数量、挂单笔数。"),
    ("ORDER.PLACE", "下单，能成交的部分立即成交。"),
    ("ORDER.CANCEL", "撤单。"),
    ("ORDER.REDUCE", "减少订单数量，保留排队位置。"),
    ("ORDER.REPLACE", "改单：新的价格与剩余数量。"),
    ("ORDER.CANCELALL", "撤销某用户在该市场的全部挂单。"),
    ("ORDER.GET", "查询订单。"),
    ("ORDER.LIST", "分页列出挂单：某用户的挂单，最早的在前；或全部挂单，先买后卖，按成交先后排列。"),
    ("OPERATION.GET", "查询某个操作 ID 所记录的回执。"),
    ("OPERATION.RESOLVE", "查询回执；没有回执时标记该 ID，此后到达的同 ID 请求一律不再执行。"),
    ("DIGEST", "查询某个资源所在分区或全部分区的状态摘要。"),
];

/// The events in Chinese.
pub(crate) const EVENTS_ZH: &[(&str, &str)] = &[
    ("account.opened", "已开户。"),
    ("account.credited", "资金从外部入账。"),
    ("account.debited", "资金已扣出。"),
    ("account.transferred", "资金从一个账户转到另一个账户。"),
    ("account.frozen", "账户已冻结：停止扣款与新的预扣。"),
    ("account.unfrozen", "账户已解冻：扣款与预扣恢复。"),
    ("account.closed", "账户已销户。"),
    ("account.overdraft_set", "透支额度已设置。"),
    ("hold.placed", "资金已预扣。"),
    ("hold.captured", "已从预扣中实扣；仍有余额继续预扣时 `open` 为 1。"),
    ("hold.voided", "预扣已取消，资金恢复可用。"),
    ("hold.expired", "预扣已过期，资金恢复可用。"),
    ("hold.extended", "预扣的过期时刻已重设。"),
    ("stock.created", "商品已上架。"),
    ("stock.restocked", "已补货。"),
    ("stock.adjusted", "库存已调整。"),
    ("stock.taken", "已卖出。"),
    ("stock.returned", "已退货。"),
    ("stock.closed", "销售已停止。"),
    ("stock.sold_out", "已售罄。"),
    ("stock.available_again", "又有货可售。"),
    ("stock.audit_advanced", "已清点一段销售凭证。"),
    (
        "stock.receipts_forgotten",
        "商品最早的销售凭证已过保留期，移出了内存；序列号到此为止的商品不能再退货。",
    ),
    ("stock.audited", "销售凭证已全部清点完。"),
    ("reservation.placed", "库存已预占。"),
    ("reservation.confirmed", "预占的商品已卖出。"),
    ("reservation.released", "预占已释放，商品恢复可售。"),
    ("reservation.expired", "预占已过期，商品恢复可售。"),
    ("reservation.extended", "预占的过期时刻已重设。"),
    ("packets.created", "红包活动已创建；最后一个 `packets.filled` 之后才可领取。"),
    ("packets.filled", "一批红包已生成。"),
    ("packets.claimed", "一个红包已被用户领取。"),
    ("packets.exhausted", "最后一个红包已被领走。"),
    ("packets.closed", "活动已结束，公开种子以及复算拆分所需的其余参数。"),
    (
        "packets.forgotten",
        "已结束活动的红包及其领取记录过了保留期，移出了内存；amount 是其中被领取的总金额。",
    ),
    ("coupon.created", "优惠券已创建。"),
    ("coupon.updated", "优惠券的限额更新为这些。"),
    ("coupon.claimed", "已领取一次；按限额顺序给出它计入的窗口。"),
    ("coupon.redeemed", "已核销。"),
    ("coupon.revoked", "未使用的领取已作废；列出退还了计数的限额。"),
    ("coupon.paused", "领取已暂停。"),
    ("coupon.resumed", "领取已恢复。"),
    ("market.created", "市场已开设。"),
    ("market.halted", "交易已暂停。"),
    ("market.resumed", "交易已恢复。"),
    ("order.placed", "订单已受理，后续事件给出其结果。"),
    ("order.traded", "两笔订单按挂单方价格成交。"),
    ("order.cancelled", "订单带未成交的剩余量结束。"),
    ("order.reduced", "订单已减量，排队位置不变。"),
    ("order.rested", "订单的剩余量已挂到订单簿，排在同价位末尾。"),
    ("order.replaced", "订单已改价改量；`keeps_priority` 为 0 时订单先离开订单簿，后续事件给出其结果。"),
    ("clock.doubted", "服务停机期间时钟前进了；在得到确认之前，任何记录都不会因这段存疑的时间而结束。"),
    ("clock.confirmed", "存疑的时间已得到确认：因此到期的记录现在结束。"),
    ("clock.moved", "时钟被拨快或拨回；此前记住的操作 ID 至少按拨动时刻起算保留。"),
    ("operation.refused", "命令被拒绝，该结果已按操作 ID 记录。"),
    ("operation.resolved", "操作 ID 已标记为不存在：此后到达的同 ID 请求一律不再执行。"),
    ("operation.stepped", "命令尚未执行完，下一步先于其他一切命令执行。"),
    ("operation.unchanged", "命令已执行，但没有产生变更；回执已按操作 ID 记录。"),
];
