//! The words in Chinese.

use super::Prose;

pub(super) const PROSE: Prose = Prose {
    commands_title: "命令",
    commands_introduction: COMMANDS,
    access_title: "权限",
    access_introduction: ACCESS,
    glossary_title: "术语表",
    glossary_introduction: GLOSSARY,
    name: "名称",
    scope: "适用于",
    command: "命令",
    resource_kind: "种类",
    codes_title: "结果码",
    codes_introduction: CODES,
    events_title: "事件",
    events_introduction: EVENTS,
    group_suffix: " 命令",
    changes_nothing: "只读。",
    argument: "参数",
    written: "写法",
    needed: "必填",
    unit: "单位",
    meaning: "含义",
    yes: "是",
    no: "否",
    answer: "返回",
    an_array: "（数组）",
    a_map: "映射",
    value: "返回值",
    outcomes: "拒绝（按检查顺序）",
    common_checks: "在[公共检查](#检查顺序)之后",
    events: "事件",
    number: "编号",
    code: "结果码",
    kind: "类别",
    retryable: "可重试",
    facts: "附带数据",
    fact: "附带数据",
    cause: "发生了什么",
    advice: "如何处理",
    again: "能否重试",
    over_resp: "RESP 形式",
    over_http: "HTTP",
    answered_by: "返回该码的命令",
    event: "事件",
    what_happened: "发生了什么",
    field: "字段",
    public: "公开",
    no_fields: "没有字段。",
    made_by: "产生该事件的命令",
    made_by_time: "过期时自动产生",
    made_by_any: "任何带操作 ID 的命令",
    colon: "：",
    comma: "，",
};

const COMMANDS: &str = "\
任何 Redis 客户端都能发送这些命令。用法行与 `STOCK.HELP` 等帮助命令、`COMMAND DOCS` 的输出一致。规则及其理由见
[semantics.md](../semantics.md)（英文）。[English](../commands.md)

**格式。** ID 长 1 至 64 字节，可用字符 `A-Z a-z 0-9 _ . : @ / + = -`；需要落在同一分区的资源用同一个 `{tag}`。金额、数量、\
价格都是 1 至 2^53 − 1 的十进制整数，不带符号、小数点、指数与前导零。时间一律为 Unix 毫秒时间戳。格式不对时返回错误
`-ERR INVALID`，指出是哪个参数，并附上用法行；状态不变，连接可继续使用。

**返回。** 写命令执行成功返回 `[1, 值…]`，被拒绝返回 `[0, 结果码, 附带数据…]`。拒绝不是错误，客户端不会因此抛异常。\
只读命令返回映射（RESP3）或名值交替的数组（RESP2），被拒绝时的形式与写命令相同。

**幂等。** 写命令末尾都可以带 `ID operation-id`：同一个 ID 无论发送多少次都只生效一次，重复请求得到第一次的结果。还可以带
`DEADLINE ms`：到达该时刻即不再执行；以及 `DURABILITY memory`、`replicated` 或 `synced`：返回结果之前变更必须达到的持久化级别，见
[semantics.md](../semantics.md#durability)（英文）。

**原子批次。** `MULTI` 与 `EXEC` 之间的命令要么全部执行，要么一条也不执行；第一行可以是
`BATCH.ID id [DEADLINE ms] [DURABILITY level]`、`BATCH.DEADLINE ms` 或 `BATCH.DURABILITY level`。`EXEC` 返回数组，每行一个结果，绝不返回 nil。若有一行被拒绝，该行为 `[0, 结果码, 附带数据…]`，其余各行为
`[0, \"BATCH_REFUSED\", 行号, 结果码]`，行号从 0 开始，只数命令。

## 检查顺序

按顺序检查，最先不通过的一项决定结果。只读命令只经过第 1 步和自身的检查；不带 ID 的命令跳过第 3、4、6 步。

1. [`INVALID`](codes.md#invalid)：参数格式。
2. [`CROSS_PARTITION`](codes.md#cross_partition)：转账、实扣给其他账户、批次涉及了不同分区的资源。
3. 该 ID 已有记录：返回第一次的结果；内容不同则为 [`ID_REUSED`](codes.md#id_reused)；已判定为不存在则为
   [`RESOLVED_ABSENT`](codes.md#resolved_absent)。
4. [`ID_EXPIRED`](codes.md#id_expired)：ID 自带的时间已超出保留时长。
5. [`DEADLINE_PASSED`](codes.md#deadline_passed)。
6. [`OVERLOADED`](codes.md#overloaded)：无法再记录更多 ID。
7. 命令自身的拒绝，按各命令下列出的顺序。

## 命令分组

";

const GLOSSARY: &str = "\
Scarce 的用语：先是概念，然后是命令、应答、结果码和事件中的每个名称。`scarce explain NAME` 显示同样的内容。[English](../glossary.md)

| 用语 | 含义 |
|---|---|
| 资源 | 数量有限、多方争抢的东西：账户、商品、红包活动、优惠券、市场 |
| 操作、操作 ID | 调用方要做的一件事，以及调用方给它的名称。同一 ID 总是得到第一次的应答 |
| 已执行、被拒绝、失败 | 已完成；规则不允许，没有任何变更；结果未知，或未被接收 |
| 分区 | 一部分资源，有自己的日志和线程 |
| 标签 | 名称中花括号里的部分，如 `{show-42}A-12`：标签相同的名称在同一个分区 |
| 批 | 同一分区的若干命令，全部执行或全部不执行 |
| 事件、日志、序号 | 发生了什么变更；按顺序记录的全部变更；变更的编号，没有间断 |
| 纪元（epoch） | 每次启动都增大的数；与序号一起，永久指明日志中的一个位置 |
| 快照 | 某个序号处的全部状态 |
| 摘要（digest） | 十六个字节，状态相同则摘要相同 |
| 冻结、预留 | 在期限之前留出的资金或库存 |
| 回执 | 已执行操作的应答，以及一次销售留下的记录 |
| 编号（serial） | 商品、红包或领取记录的号码，从 1 开始 |
| world 账户 | 资金的来处和去处，每种资产一个，使所有余额之和为零 |
| 消费者、位置、延迟 | 日志的读取方；读到哪里；落后多少 |
| 投影、镜像 | 写成 SQL 表的日志；写在 Redis 中供读取的状态 |
| 持久化级别 | 应答时变更已到达哪里：`memory`、`replicated` 或 `synced` |

## 名称

第二列不为空时，名称只在那里有这个含义：某个命令、事件、结果码、JSON 结构或一组命令。
";

const ACCESS: &str = "\
各命令与历史查询路由要求[密钥](keys.md)的范围允许什么。一行有多个标记时，具备其一即可。种类 `*` 表示全部种类；对 `OPERATION.GET` 与 `OPERATION.RESOLVE`
则表示任意一种。`ACCOUNT.WORLD` 需要不限资源；在由范围不同的密钥共用的[命名空间](keys.md#操作-id)中，`OPERATION.RESOLVE` 也是如此。[English](../access.md)

不在命令表中的：

- `operate`：`EVENTS`、`CONSUMER`、`SNAPSHOT`、`SLOWLOG`、`CONFIG`、`GET /v1/events`、`GET /v1/audit`、`GET /v1/settings`、`GET /v1/keys`、`POST /v1/reconciliations`，`/v1/webhooks`、
  `/v1/deliveries` 与 `/v1/settlements` 的全部路由；完整的 `INFO`。
- `*`：`POST /v1/keys`、`POST /v1/keys/{key}/rotate` 与 `…/revoke`。
- 全部种类的 `read`：`GET /v1/consumers`、`GET /v1/reconciliations`、`GET /metrics`。
- 种类 `script`（按脚本名称）：`FCALL`、`EVALSHA` 与 `POST /v1/scripts/{script}/run` 需要 `take`；`FCALL_RO`、`EVALSHA_RO`、`SCRIPT` 与 `GET /v1/scripts` 需要 `read`；
  `POST` 与 `DELETE /v1/scripts/{script}` 需要 `administrate`。
- 任何密钥：`PING`、`ECHO`、`HELLO`、`SELECT`、`RESET`、`QUIT`、`CLIENT`、`COMMAND`、`INFO` 的开头部分、`POST /v1/packet-previews`。`SUBSCRIBE`、`/ws` 与 `GET /v1/live` 对每个[频道](push.md#频道)的要求与其命令相同。`MULTI`、`DRYRUN` 与 `POST /v1/batch`
  取决于其中的命令。

";

const CODES: &str = "\
每条命令都以下列结果码之一结束。编号与名称的含义永不改变。在 RESP 端口上，拒绝是普通数组 `[0, 结果码, 附带数据…]`，不是错误；\
通过 HTTP 返回时，是带有所列状态码的问题文档（problem document）。命令行 `scarce explain 结果码 --lang zh` 给出同样的说明。\
[English](../codes.md)

- **已执行**：命令已经生效。
- **业务拒绝**：当前规则不允许，属于正常结果。账户与订单命令的拒绝按操作 ID 记录，其余的不记录。
- **请求无效**：请求本身有误或到达太晚；状态不变，也不会被记录。
- **系统错误**：引擎未能处理该命令；用同一个 ID 重试。

“可重试”表示状态变化或时间推移之后，同样的命令有可能成功。

";

const EVENTS: &str = "\
每次状态变化都是一个事件。分区内的事件以 `(epoch, sequence)` 连续编号，没有空缺；`EVENTS`、事件流与日志都由这些事件组成。\
编号与名称永不改变，新字段只加在末尾。不公开的字段只存在于日志与状态中，不出现在任何事件流里。[English](../events.md)

`EVENTS partition epoch sequence [COUNT n] [KIND kind] [RESOURCE id] [NAME event] [JSON]` 返回该游标之后的事件，每个事件为
`[partition, epoch, sequence, at, 操作 ID 或 nil, 事件名, [字段, 值, …]]`；带 `JSON` 时，每个事件为一段文本，格式与
[`GET /v1/events`](../http.md#events) 相同。epoch 为 0 表示不限。详见 [EVENTS](../resp.md#events)。

";
