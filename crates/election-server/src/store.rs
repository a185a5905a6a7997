//! The store of the board: SQLite in a file, or PostgreSQL, which several servers can share.
//!
//! Only the lines of the record, in order, are authoritative. Tables of trackers, voters and votes
//! are derived from them for queries. Lines are only ever appended, in transactions that are on
//! disk before anyone learns of them. SQLite uses a write-ahead log with `synchronous = FULL`,
//! PostgreSQL `synchronous_commit = on`.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Any, AnyConnection, AnyPool, Executor, Row, SqlSafeStr, Transaction};

/// Number of connections of a server, for readers and one writer.
const CONNECTIONS: u32 = 8;
/// Maximum time to wait for a connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);

/// A database, as specified on the command line.
#[derive(Clone, PartialEq, Eq)]
pub enum Location {
    /// `sqlite:PATH`: a file, created if it is missing.
    Sqlite(String),
    /// `postgres://...`: the URL, which may contain a password.
    Postgres(String),
}

/// The text does not specify a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a store must be sqlite:PATH or postgres://USER@HOST/DATABASE")]
pub struct LocationError;

impl FromStr for Location {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        if let Some(path) = text.strip_prefix("sqlite:") {
            let is_file = !path.is_empty() && path != ":memory:";
            return if is_file { Ok(Self::Sqlite(path.to_owned())) } else { Err(LocationError) };
        }
        let postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
        if postgres { Ok(Self::Postgres(text.to_owned())) } else { Err(LocationError) }
    }
}

/// Omits the password.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{path}"),
            Self::Postgres(url) => {
                let rest = url.split_once("://").map_or("", |(_, rest)| rest);
                let rest = rest.split(['?', '#']).next().unwrap_or_default();
                write!(f, "postgres://{}", rest.rsplit_once('@').map_or(rest, |(_, host)| host))
            }
        }
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Location {
    /// The default file of the last head: `PATH.head` next to the SQLite file. `None` for
    /// PostgreSQL, which has no local file.
    pub fn last_head(&self) -> Option<PathBuf> {
        match self {
            Self::Sqlite(path) => Some(format!("{path}.head").into()),
            Self::Postgres(_) => None,
        }
    }

    fn url(&self, create: bool) -> String {
        match self {
            Self::Postgres(url) => url.clone(),
            Self::Sqlite(path) => {
                let mode = if create { "rwc" } else { "rw" };
                format!("sqlite:{}?mode={mode}", percent_encoded(path))
            }
        }
    }
}

/// Percent-encodes a path for a URL.
fn percent_encoded(path: &str) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(byte);
    path.bytes().map(|byte| if plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// Why an operation of the store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The database rejects the operation or is unavailable.
    #[error("the store {0} failed")]
    Database(Location, #[source] sqlx::Error),
    /// The tables belong to another version.
    #[error("cannot use the tables of the store {0}")]
    Tables(Location, #[source] sqlx::migrate::MigrateError),
    /// An entry is missing, so someone changed the tables.
    #[error("the store {0} lacks entry {1}")]
    Gap(Location, u64),
}

/// An entry in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its index on the board.
    pub position: u64,
    /// Its kind.
    pub kind: String,
    /// The tracker of a cast or challenged ballot.
    pub tracker: Option<String>,
    /// The line of the record, without its newline.
    pub line: String,
}

/// The database behind a server.
#[derive(Clone, Debug)]
pub struct Store {
    location: Location,
    pool: AnyPool,
}

impl Store {
    /// Opens a store, and creates its file and tables if they are missing.
    ///
    /// # Errors
    /// The database is unavailable.
    pub async fn open(location: &Location) -> Result<Self, Error> {
        Self::connect(location, true).await
    }

    /// Opens an existing store.
    ///
    /// # Errors
    /// The database is unavailable.
    pub async fn open_existing(location: &Location) -> Result<Self, Error> {
        Self::connect(location, false).await
    }

    async fn connect(location: &Location, create: bool) -> Result<Self, Error> {
        sqlx::any::install_default_drivers();
        let settings = match location {
            Location::Sqlite(_) => {
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA busy_timeout = 10000;"
            }
            Location::Postgres(_) => "SET synchronous_commit TO on; SET statement_timeout TO '30s';",
        };
        let pool = AnyPoolOptions::new()
            .max_connections(CONNECTIONS)
            .acquire_timeout(ACQUIRE_TIMEOUT)
            .after_connect(move |connection, _| Box::pin(async move { connection.execute(settings).await.map(|_| ()) }))
            .connect(&location.url(create))
            .await
            .map_err(|error| Error::Database(location.clone(), error))?;
        migrations(location).run(&pool).await.map_err(|error| Error::Tables(location.clone(), error))?;
        Ok(Self { location: location.clone(), pool })
    }

    /// The location of the store.
    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.pool.close().await;
    }

    fn failed(&self, error: sqlx::Error) -> Error {
        Error::Database(self.location.clone(), error)
    }

    /// Starts to append. Nobody else can append to this store until the transaction ends.
    ///
    /// # Errors
    /// The database is unavailable, or another writer holds it for too long.
    pub async fn append(&self) -> Result<Append, Error> {
        let begin = match self.location {
            Location::Sqlite(_) => "BEGIN IMMEDIATE",
            Location::Postgres(_) => "BEGIN",
        };
        let mut transaction = self.pool.begin_with(begin).await.map_err(|error| self.failed(error))?;
        if matches!(self.location, Location::Postgres(_)) {
            let lock = transaction.execute("SELECT one FROM writer FOR UPDATE").await;
            lock.map_err(|error| self.failed(error))?;
        }
        Ok(Append { location: self.location.clone(), transaction })
    }

    /// The number of entries.
    ///
    /// # Errors
    /// The database fails.
    pub async fn size(&self) -> Result<u64, Error> {
        let row = self.pool.fetch_one("SELECT COALESCE(MAX(position) + 1, 0) FROM entries").await;
        row.and_then(|row| row.try_get(0)).map(unsigned).map_err(|error| self.failed(error))
    }

    /// At most `most` lines, from `first` on.
    ///
    /// # Errors
    /// The database fails, or an entry is missing.
    pub async fn lines(&self, first: u64, most: u64) -> Result<Vec<String>, Error> {
        let mut connection = self.pool.acquire().await.map_err(|error| self.failed(error))?;
        lines(&self.location, &mut connection, first, most).await
    }

    /// The index and the line of the entry with a tracker.
    ///
    /// # Errors
    /// The database fails.
    pub async fn tracked(&self, tracker: &str) -> Result<Option<(u64, String)>, Error> {
        let mut connection = self.pool.acquire().await.map_err(|error| self.failed(error))?;
        tracked(&mut connection, tracker).await.map_err(|error| self.failed(error))
    }

    /// Whether the ballot at an index is the one of its voter that counts.
    ///
    /// # Errors
    /// The database fails.
    pub async fn counts(&self, position: u64) -> Result<bool, Error> {
        let query = sqlx::query("SELECT 1 FROM votes WHERE position = $1").bind(signed(position));
        Ok(query.fetch_optional(&self.pool).await.map_err(|error| self.failed(error))?.is_some())
    }

    /// The indices and lines of at most `most` counted ballots, from entry `first` on.
    ///
    /// # Errors
    /// The database fails.
    pub async fn votes(&self, first: u64, most: u64) -> Result<Vec<(u64, String)>, Error> {
        let text = "SELECT entries.position, entries.line FROM votes JOIN entries ON entries.position = votes.position \
                    WHERE entries.position >= $1 ORDER BY entries.position LIMIT $2";
        let query = sqlx::query(text).bind(signed(first)).bind(signed(most));
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let vote = |row: &sqlx::any::AnyRow| Ok((unsigned(row.try_get(0)?), row.try_get(1)?));
        rows.iter().map(vote).collect::<Result<_, sqlx::Error>>().map_err(|error| self.failed(error))
    }

    /// The indices and lines of at most `most` entries that list voters or replace their
    /// credentials, from index `first` on.
    ///
    /// # Errors
    /// The database fails.
    pub async fn lists(&self, first: u64, most: u64) -> Result<Vec<(u64, String)>, Error> {
        let text = "SELECT position, line FROM entries WHERE position >= $1 AND kind IN ('voters', 'replace') \
                    ORDER BY position LIMIT $2";
        let query = sqlx::query(text).bind(signed(first)).bind(signed(most));
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let list = |row: &sqlx::any::AnyRow| Ok((unsigned(row.try_get(0)?), row.try_get(1)?));
        rows.iter().map(list).collect::<Result<_, sqlx::Error>>().map_err(|error| self.failed(error))
    }

    /// At most `most` voters from number `first` on, and whether each has voted.
    ///
    /// # Errors
    /// The database fails.
    pub async fn voters(&self, first: u64, most: u64) -> Result<Vec<(String, bool)>, Error> {
        let text = "SELECT voters.id, votes.position FROM voters LEFT JOIN votes ON votes.voter = voters.id \
                    WHERE number >= $1 AND number < $2 ORDER BY number";
        let query = sqlx::query(text).bind(signed(first)).bind(signed(first.saturating_add(most)));
        let rows = query.fetch_all(&self.pool).await.map_err(|error| self.failed(error))?;
        let voter = |row: &sqlx::any::AnyRow| Ok((row.try_get(0)?, row.try_get::<Option<i64>, _>(1)?.is_some()));
        rows.iter().map(voter).collect::<Result<_, sqlx::Error>>().map_err(|error| self.failed(error))
    }

    /// The number of voters, and of those who have voted.
    ///
    /// # Errors
    /// The database fails.
    pub async fn turnout(&self) -> Result<(u64, u64), Error> {
        let row = self.pool.fetch_one("SELECT (SELECT COUNT(*) FROM voters), (SELECT COUNT(*) FROM votes)").await;
        let counted = row.and_then(|row| Ok((unsigned(row.try_get(0)?), unsigned(row.try_get(1)?))));
        counted.map_err(|error| self.failed(error))
    }

    /// The line of the newest head.
    ///
    /// # Errors
    /// The database fails.
    pub async fn newest_head(&self) -> Result<Option<String>, Error> {
        let mut connection = self.pool.acquire().await.map_err(|error| self.failed(error))?;
        newest_head(&mut connection).await.map_err(|error| self.failed(error))
    }

    /// The lines of signed heads with more than `size` entries, oldest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn heads(&self, size: u64) -> Result<Vec<String>, Error> {
        let query = sqlx::query("SELECT line FROM heads WHERE size > $1 ORDER BY size").bind(signed(size));
        let rows = query.fetch_all(&self.pool).await;
        rows.and_then(|rows| rows.iter().map(|row| row.try_get(0)).collect()).map_err(|error| self.failed(error))
    }
}

/// A transaction that appends. Without [`Append::commit`], it changes nothing.
#[derive(Debug)]
pub struct Append {
    location: Location,
    transaction: Transaction<'static, Any>,
}

impl Append {
    fn failed(&self, error: sqlx::Error) -> Error {
        Error::Database(self.location.clone(), error)
    }

    /// At most `most` current lines, from `first` on.
    ///
    /// # Errors
    /// The database fails, or an entry is missing.
    pub async fn lines(&mut self, first: u64, most: u64) -> Result<Vec<String>, Error> {
        lines(&self.location, &mut self.transaction, first, most).await
    }

    /// The index and the line of the entry with a tracker.
    ///
    /// # Errors
    /// The database fails.
    pub async fn tracked(&mut self, tracker: &str) -> Result<Option<(u64, String)>, Error> {
        tracked(&mut self.transaction, tracker).await.map_err(|error| self.failed(error))
    }

    /// Adds an entry.
    ///
    /// # Errors
    /// The database fails, or already has an entry with this index or tracker.
    pub async fn entry(&mut self, entry: &Entry) -> Result<(), Error> {
        let text = "INSERT INTO entries (position, kind, tracker, line) VALUES ($1, $2, $3, $4)";
        let query = sqlx::query(text)
            .bind(signed(entry.position))
            .bind(entry.kind.as_str())
            .bind(entry.tracker.as_deref())
            .bind(entry.line.as_str());
        query.execute(&mut *self.transaction).await.map(|_| ()).map_err(|error| self.failed(error))
    }

    /// Adds a voter.
    ///
    /// # Errors
    /// The database fails, or already has a voter with this number or id.
    pub async fn voter(&mut self, number: u64, id: &str) -> Result<(), Error> {
        let query = sqlx::query("INSERT INTO voters (number, id) VALUES ($1, $2)").bind(signed(number)).bind(id);
        query.execute(&mut *self.transaction).await.map(|_| ()).map_err(|error| self.failed(error))
    }

    /// Records which ballot of a voter counts. A second one replaces the first only if `revoting`
    /// is set.
    ///
    /// # Errors
    /// The database fails, or the voter has voted and may not vote again.
    pub async fn vote(&mut self, voter: &str, position: u64, revoting: bool) -> Result<(), Error> {
        let text = match revoting {
            true => {
                "INSERT INTO votes (voter, position) VALUES ($1, $2) ON CONFLICT (voter) DO UPDATE SET position = $2"
            }
            false => "INSERT INTO votes (voter, position) VALUES ($1, $2)",
        };
        let query = sqlx::query(text).bind(voter).bind(signed(position));
        query.execute(&mut *self.transaction).await.map(|_| ()).map_err(|error| self.failed(error))
    }

    /// The line of the newest head.
    ///
    /// # Errors
    /// The database fails.
    pub async fn newest_head(&mut self) -> Result<Option<String>, Error> {
        newest_head(&mut self.transaction).await.map_err(|error| self.failed(error))
    }

    /// The sizes and lines of all signed heads, smallest first.
    ///
    /// # Errors
    /// The database fails.
    pub async fn heads(&mut self) -> Result<Vec<(u64, String)>, Error> {
        let rows = sqlx::query("SELECT size, line FROM heads ORDER BY size").fetch_all(&mut *self.transaction).await;
        let head = |row: &sqlx::any::AnyRow| Ok((unsigned(row.try_get(0)?), row.try_get(1)?));
        rows.and_then(|rows| rows.iter().map(head).collect()).map_err(|error| self.failed(error))
    }

    /// Removes a signed head.
    ///
    /// # Errors
    /// The database fails.
    pub async fn drop_head(&mut self, size: u64) -> Result<(), Error> {
        let query = sqlx::query("DELETE FROM heads WHERE size = $1").bind(signed(size));
        query.execute(&mut *self.transaction).await.map(|_| ()).map_err(|error| self.failed(error))
    }

    /// Adds a signed head.
    ///
    /// # Errors
    /// The database fails.
    pub async fn head(&mut self, size: u64, line: &str) -> Result<(), Error> {
        let text = "INSERT INTO heads (size, line) VALUES ($1, $2) ON CONFLICT (size) DO NOTHING";
        let query = sqlx::query(text).bind(signed(size)).bind(line);
        query.execute(&mut *self.transaction).await.map(|_| ()).map_err(|error| self.failed(error))
    }

    /// Commits the transaction, which is on disk when this returns.
    ///
    /// # Errors
    /// The database fails. Whether the transaction was committed is then unknown.
    pub async fn commit(self) -> Result<(), Error> {
        let location = self.location;
        self.transaction.commit().await.map_err(|error| Error::Database(location, error))
    }
}

async fn lines(
    location: &Location,
    connection: &mut AnyConnection,
    first: u64,
    most: u64,
) -> Result<Vec<String>, Error> {
    let failed = |error| Error::Database(location.clone(), error);
    let text = "SELECT position, line FROM entries WHERE position >= $1 AND position < $2 ORDER BY position";
    let query = sqlx::query(text).bind(signed(first)).bind(signed(first.saturating_add(most)));
    let rows = query.fetch_all(connection).await.map_err(failed)?;
    let mut lines = Vec::with_capacity(rows.len());
    for (row, expected) in rows.iter().zip(first..) {
        if unsigned(row.try_get(0).map_err(failed)?) != expected {
            return Err(Error::Gap(location.clone(), expected));
        }
        lines.push(row.try_get(1).map_err(failed)?);
    }
    Ok(lines)
}

async fn newest_head(connection: &mut AnyConnection) -> Result<Option<String>, sqlx::Error> {
    let row = connection.fetch_optional("SELECT line FROM heads ORDER BY size DESC LIMIT 1").await?;
    row.map(|row| row.try_get(0)).transpose()
}

async fn tracked(connection: &mut AnyConnection, tracker: &str) -> Result<Option<(u64, String)>, sqlx::Error> {
    let query = sqlx::query("SELECT position, line FROM entries WHERE tracker = $1").bind(tracker);
    let row = query.fetch_optional(connection).await?;
    row.map(|row| Ok((unsigned(row.try_get(0)?), row.try_get(1)?))).transpose()
}

/// Databases use signed integers, and no board is longer than they can count.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}

/// The migrations of the tables by version. A published migration never changes. A new version gets
/// a new file.
fn migrations(location: &Location) -> Migrator {
    let board = match location {
        Location::Sqlite(_) => include_str!("../migrations/1-board.sqlite.sql"),
        Location::Postgres(_) => include_str!("../migrations/1-board.postgres.sql"),
    };
    let migration = |version, name: &'static str, sql: &'static str| {
        Migration::new(version, name.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    Migrator::with_migrations(vec![
        migration(1, "board", board),
        migration(2, "lists", include_str!("../migrations/2-lists.sql")),
    ])
}
