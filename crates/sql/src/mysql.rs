//! Settings of a session with MySQL or MariaDB.

use sqlx::Error;
use sqlx::mysql::MySqlConnection;

/// A value that does not fit its column is refused, not truncated; readers take no locks that would block writers of
/// other partitions; and a lock that another session holds is waited for for 10 seconds.
const SESSION: &str = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), \
                       SESSION transaction_isolation = 'READ-COMMITTED', \
                       SESSION innodb_lock_wait_timeout = 10, SESSION lock_wait_timeout = 10";

/// The same for MariaDB before 11.1.
const SESSION_BEFORE: &str = "SET SESSION sql_mode = CONCAT(@@sql_mode, ',STRICT_ALL_TABLES'), \
                              SESSION tx_isolation = 'READ-COMMITTED', \
                              SESSION innodb_lock_wait_timeout = 10, SESSION lock_wait_timeout = 10";

pub(crate) async fn set_up(connection: &mut MySqlConnection) -> Result<(), Error> {
    match sqlx::raw_sql(SESSION).execute(&mut *connection).await {
        Err(Error::Database(_)) => sqlx::raw_sql(SESSION_BEFORE).execute(connection).await.map(drop),
        done => done.map(drop),
    }
}
