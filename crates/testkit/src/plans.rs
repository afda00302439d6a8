//! How a database would run a statement: whether it finds rows by an index.

use std::collections::BTreeMap;

use sqlx::mysql::MySqlPool;
use sqlx::postgres::{PgConnection, PgPool};
use sqlx::sqlite::SqlitePool;
use sqlx::{AssertSqlSafe, Row};

use crate::Database;
use crate::database::Pool;

/// The name under which PostgreSQL prepares a statement, and what makes it plan without looking at its values, and
/// read a whole table only where nothing else is possible.
const PREPARED: &str = "planned";
const POSTGRES_SESSION: &str = "SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off";

/// PostgreSQL's words for reading by an index.
const BY_INDEX: [&str; 4] =
    ["Index Scan using ", "Index Scan Backward using ", "Index Only Scan using ", "Bitmap Index Scan on "];

impl Database {
    /// What a statement, with its placeholders, reads as a whole: tables that are not among those that stay `small`.
    /// The rows of a page, read in the order of a key without a search, are not a whole table.
    ///
    /// # Panics
    /// When the database does not plan the statement.
    pub async fn scans(&self, sql: &str, small: &[&str]) -> Vec<String> {
        let scanned = match &self.pool {
            Pool::Sqlite(pool) => sqlite(pool, sql).await,
            Pool::Postgres(pool) => postgres(pool, sql).await,
            Pool::MySql(pool) => mysql(pool, sql).await,
        };
        let scanned = scanned.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let is_page = is_page(sql);
        let is_whole = |name: &String| !(is_page || small.contains(&table_of(sql, name)));
        scanned.into_iter().filter(is_whole).map(|name| format!("{name} in: {sql}")).collect()
    }
}

/// Whether a statement reads the first rows in an order, and searches for no value.
fn is_page(sql: &str) -> bool {
    let condition = sql.split_once(" WHERE ").map_or("", |(_, rest)| rest);
    sql.contains(" ORDER BY ") && sql.contains(" LIMIT ") && !condition.contains(['?', '$'])
}

/// The table that a statement calls so.
fn table_of<'s>(sql: &'s str, name: &'s str) -> &'s str {
    let before = sql.split_once(&format!(" AS {name} ")).map(|(before, _)| before);
    before.and_then(|before| before.split_whitespace().last()).unwrap_or(name)
}

async fn sqlite(pool: &SqlitePool, sql: &str) -> Result<Vec<String>, sqlx::Error> {
    let plan = sqlx::query(AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"))).fetch_all(pool).await?;
    let steps: Vec<String> = plan.iter().map(|row| row.try_get("detail")).collect::<Result<_, _>>()?;
    // Rows of constants and of other steps are not tables.
    let is_step = |name: &str| {
        let made = ["CO-ROUTINE", "MATERIALIZE"].map(|verb| format!("{verb} {name}"));
        name.starts_with('(') || steps.iter().any(|step| made.contains(step))
    };
    let partial = "SELECT name FROM sqlite_master WHERE type = 'index' AND sql LIKE '% WHERE %'";
    let partial: Vec<String> = sqlx::query(partial)
        .fetch_all(pool)
        .await?
        .iter()
        .map(|row| row.try_get(0))
        .collect::<Result<_, _>>()?;
    // An index of a part of its table is read as a whole where that part is asked for.
    let is_part = |step: &str| partial.iter().any(|index| step.ends_with(&format!(" INDEX {index}")));
    let scan = |step: &String| {
        let (name, _) = step.strip_prefix("SCAN ")?.split_once(' ').unwrap_or((&step[5..], ""));
        (!step.contains("CONSTANT ROW") && !is_part(step) && !is_step(name)).then(|| name.to_owned())
    };
    Ok(steps.iter().filter_map(scan).collect())
}

async fn postgres(pool: &PgPool, sql: &str) -> Result<Vec<String>, sqlx::Error> {
    let mut connection = pool.acquire().await?;
    sqlx::raw_sql(POSTGRES_SESSION).execute(&mut *connection).await?;
    let prepare = format!("PREPARE {PREPARED} AS {sql}");
    sqlx::raw_sql(AssertSqlSafe(prepare)).execute(&mut *connection).await?;
    let count = (1..).take_while(|number| sql.contains(&format!("${number}"))).count();
    let values = if count > 0 { format!("({})", vec!["NULL"; count].join(", ")) } else { String::new() };
    let explain = format!("EXPLAIN (COSTS OFF) EXECUTE {PREPARED}{values}");
    let rows = sqlx::raw_sql(AssertSqlSafe(explain)).fetch_all(&mut *connection).await?;
    sqlx::raw_sql(AssertSqlSafe(format!("DEALLOCATE {PREPARED}"))).execute(&mut *connection).await?;
    let plan: Vec<String> = rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let leading = leading_columns(&mut connection).await?;
    Ok((0..plan.len()).filter_map(|at| postgres_scan(&plan[at], &plan[at + 1..], &leading)).collect())
}

/// The first column of each index; `None` for one of a part of its table, which is read as a whole.
async fn leading_columns(
    connection: &mut PgConnection,
) -> Result<BTreeMap<String, Option<String>>, sqlx::Error> {
    let list = "SELECT indexname::text, indexdef FROM pg_indexes WHERE schemaname = 'public'";
    let rows = sqlx::raw_sql(list).fetch_all(connection).await?;
    let mut columns = BTreeMap::new();
    for row in rows {
        let (name, description): (String, String) = (row.try_get(0)?, row.try_get(1)?);
        let inside = description.split_once('(').map_or("", |(_, inside)| inside);
        let first = inside.split([',', ')', ' ']).next().unwrap_or_default().to_owned();
        columns.insert(name, (!description.contains(" WHERE ")).then_some(first));
    }
    Ok(columns)
}

/// What a step of a plan reads as a whole; an index, too, if its first column is not searched for.
fn postgres_scan(step: &str, rest: &[String], leading: &BTreeMap<String, Option<String>>) -> Option<String> {
    if let Some((_, name)) = step.split_once("Seq Scan on ") {
        return name.split_whitespace().next().map(str::to_owned);
    }
    let name = BY_INDEX.iter().find_map(|words| step.split_once(words))?.1;
    let (index, table) = name.split_once(" on ").unwrap_or((name, name));
    let column = leading.get(index)?.as_ref()?;
    let own = rest.iter().take_while(|line| !line.contains("->"));
    let condition = own.filter_map(|line| line.split_once("Index Cond: ")).map(|(_, condition)| condition);
    let is_searched = condition.flat_map(|text| text.split(['(', ' ', '.', ')'])).any(|word| word == column);
    (!is_searched).then(|| table.split_whitespace().next().unwrap_or(index).to_owned())
}

async fn mysql(pool: &MySqlPool, sql: &str) -> Result<Vec<String>, sqlx::Error> {
    let mut query = sqlx::query(AssertSqlSafe(format!("EXPLAIN {sql}")));
    for _ in sql.matches('?') {
        // A text is turned into a number where a number is searched for.
        query = query.bind("1");
    }
    let mut scans = Vec::new();
    for row in query.fetch_all(pool).await? {
        let text = |name| row.try_get::<Option<String>, _>(name);
        let (table, kind, possible) = (text("table")?, text("type")?, text("possible_keys")?);
        let is_whole = matches!(kind.as_deref(), Some("ALL" | "index")) && possible.is_none();
        // A few rows are read at once although there is an index; other steps of the plan are in brackets.
        scans.extend(table.filter(|name| is_whole && !name.starts_with('<')));
    }
    Ok(scans)
}
