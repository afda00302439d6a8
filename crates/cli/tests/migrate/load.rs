//! Writers, and what each of them knows to have been done: books outside of any server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redis::Value as Reply;
use scarce_client::Client;

use crate::support::{PATIENCE, Server, wait_until};

/// How long a writer waits before it sends a command again.
const AGAIN_INTERVAL: Duration = Duration::from_millis(1);

/// Writers that send each credit, with its id, until they have its answer.
pub(super) struct Load {
    shared: Arc<LoadState>,
    writers: Vec<JoinHandle<Book>>,
}

struct LoadState {
    address: Mutex<String>,
    is_ending: AtomicBool,
    answered: AtomicU64,
}

/// What a writer knows.
pub(super) struct Book {
    account: String,
    credits: i64,
    /// The longest time between two answers.
    pub(super) gap: Duration,
}

impl Load {
    pub(super) fn begin(server: &Server, writers: u32) -> Self {
        let shared = Arc::new(LoadState {
            address: Mutex::new(server.address.clone()),
            is_ending: AtomicBool::new(false),
            answered: AtomicU64::new(0),
        });
        let begin = |writer| {
            let shared = Arc::clone(&shared);
            std::thread::spawn(move || write(&shared, writer))
        };
        let writers = (0..writers).map(begin).collect();
        let load = Self { shared, writers };
        load.go_on();
        load
    }

    /// Sends what has no answer, and all that follows, to another server.
    pub(super) fn go_to(&self, server: &Server) {
        self.shared.address.lock().unwrap().clone_from(&server.address);
    }

    /// Waits until more is answered.
    pub(super) fn go_on(&self) {
        let wanted = self.shared.answered.load(Ordering::SeqCst) + 100;
        wait_until("writers have answers", || self.shared.answered.load(Ordering::SeqCst) >= wanted);
    }

    /// Ends when every command has its answer.
    pub(super) fn end(self) -> Vec<Book> {
        self.shared.is_ending.store(true, Ordering::SeqCst);
        self.writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    }
}

fn write(shared: &LoadState, writer: u32) -> Book {
    let account = format!("a{writer}");
    let mut client = None;
    ask(shared, &mut client, &["ACCOUNT.OPEN", &account, "EUR", "ID", &format!("open{writer}")]);
    let (mut credits, mut gap) = (0, Duration::ZERO);
    while !shared.is_ending.load(Ordering::SeqCst) {
        let begun = Instant::now();
        ask(shared, &mut client, &["ACCOUNT.CREDIT", &account, "1", "ID", &format!("{writer}-{credits}")]);
        credits += 1;
        gap = gap.max(begun.elapsed());
        shared.answered.fetch_add(1, Ordering::SeqCst);
    }
    Book { account, credits, gap }
}

/// Sends a command again and again, with the same id, until it was applied.
fn ask(shared: &LoadState, client: &mut Option<Client>, words: &[&str]) {
    let begun = Instant::now();
    loop {
        let answer = match client.take() {
            Some(mut its) => {
                let answer = its.call(words);
                *client = Some(its);
                answer.ok()
            }
            None => None,
        };
        match answer {
            Some(Reply::Array(values)) if values.first() == Some(&Reply::Int(1)) => return,
            other => assert!(begun.elapsed() < PATIENCE, "{words:?}: {other:?}"),
        }
        std::thread::park_timeout(AGAIN_INTERVAL);
        let address = shared.address.lock().unwrap().clone();
        *client = Client::connect(&address, None).ok();
    }
}

/// Nothing that was answered is lost, and nothing was done twice.
pub(super) fn check(server: &Server, books: &[Book]) {
    let mut client = server.connect();
    for Book { account, credits, .. } in books {
        match super::call(&mut client, &format!("ACCOUNT.GET {account}")) {
            // The third of names with values is the balance.
            Reply::Array(values) => assert_eq!(values.get(5), Some(&Reply::Int(*credits)), "{account}"),
            other => panic!("{other:?}"),
        }
    }
}

/// Every command that was answered is answered in the same way again, and changes nothing.
pub(super) fn check_duplicates(server: &Server, books: &[Book]) {
    let mut client = server.connect();
    for (writer, Book { account, credits, .. }) in books.iter().enumerate() {
        for n in 0..*credits {
            match super::call(&mut client, &format!("ACCOUNT.CREDIT {account} 1 ID {writer}-{n}")) {
                Reply::Array(values) => assert_eq!(values.get(1), Some(&Reply::Int(n + 1)), "{writer}-{n}"),
                other => panic!("{writer}-{n}: {other:?}"),
            }
        }
    }
    check(server, books);
}
