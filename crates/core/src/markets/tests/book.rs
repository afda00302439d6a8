use super::*;

type Rows = (Vec<Book>, Vec<((Slot, Id), Owner)>);

fn rows(books: &Books) -> Rows {
    let owners = books.owners.iter().map(|(key, owner)| (key.clone(), owner.clone())).collect();
    (books.books.clone(), owners)
}

/// A small generator of numbers that look random, the same on every run.
fn below(seed: &mut u64, bound: u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    (*seed >> 11) % bound
}

/// The resting orders, as a test remembers them: market, entry, units.
type Live = Vec<(Slot, u32, u64)>;

fn change(books: &mut Books, live: &mut Live, seed: &mut u64) {
    let at = usize::try_from(below(seed, live.len().max(1) as u64)).expect("an index");
    match below(seed, 20) {
        0 => books.open(),
        1..=10 => {
            let market = Slot(u32::try_from(below(seed, books.books.len() as u64)).expect("a market"));
            let owner = Id::parse(format!("o{}", below(seed, 4)).as_bytes(), "owner").expect("an id");
            let side = if below(seed, 2) == 0 { Side::Buy } else { Side::Sell };
            let (price, quantity) = (1 + below(seed, 5), 2 + below(seed, 9));
            let row = Slot(u32::try_from(below(seed, 1_000)).expect("a row"));
            let node = books.rest(market, &owner, Resting { row, side, price, quantity });
            live.push((market, node, quantity));
        }
        11..=15 if !live.is_empty() => {
            let (market, node, quantity) = live.swap_remove(at);
            books.take_off(market, node, quantity);
        }
        16..=17 if !live.is_empty() => {
            let (market, node, quantity) = &mut live[at];
            let (price, then) = (1 + below(seed, 5), 2 + below(seed, 9));
            books.requeue(*market, *node, *quantity, (price, then));
            *quantity = then;
        }
        _ => {
            if let Some((market, node, quantity)) = live.get_mut(at).filter(|(.., quantity)| *quantity > 1) {
                books.shrink(*market, *node, 1);
                *quantity -= 1;
            }
        }
    }
}

/// Walks every queue in both directions and compares it with the totals.
fn check(books: &Books, live: &Live) {
    for (market, book) in books.books.iter().enumerate() {
        let market = Slot(u32::try_from(market).expect("a market"));
        let mut orders = 0;
        for (side, levels) in [(Side::Buy, &book.bids), (Side::Sell, &book.asks)] {
            assert_eq!(book.units(side, Rank::limit(side, None), u64::MAX), book.total(side));
            let levels: Vec<_> = levels.range(..=Rank::limit(side, None)).map(|(_, level)| level).collect();
            assert_eq!(levels.iter().map(|level| level.quantity).sum::<u64>(), book.total(side));
            for level in levels {
                let queue: Vec<_> = book.queue(level).copied().collect();
                let back = std::iter::successors(book.node(level.tail), |node| book.node(node.prev));
                let mut back: Vec<_> = back.copied().collect();
                back.reverse();
                assert_eq!(queue, back);
                assert_eq!(queue.len() as u64, level.orders);
                orders += level.orders;
            }
        }
        assert_eq!(orders, book.orders());
        let here = live.iter().filter(|(its, ..)| *its == market);
        assert_eq!(here.count() as u64, orders);
        let owned: usize = (0..4)
            .map(|owner| Id::parse(format!("o{owner}").as_bytes(), "owner").expect("an id"))
            .map(|owner| books.orders_of(market, &owner).count())
            .sum();
        assert_eq!(owned as u64, orders);
    }
    let total: u64 = live.iter().map(|(.., quantity)| quantity).sum();
    let quantities = books.books.iter().map(|book| book.total(Side::Buy) + book.total(Side::Sell));
    assert_eq!(quantities.sum::<u64>(), total);
}

#[test]
fn a_rollback_restores_every_cell() {
    for seed in 1..=40_u64 {
        let mut seed = seed * 7_919;
        let mut books = Books::new(7);
        books.open();
        let mut live = Live::new();
        for _ in 0..30 {
            for _ in 0..below(&mut seed, 20) {
                change(&mut books, &mut live, &mut seed);
            }
            check(&books, &live);
            let (before, kept) = (rows(&books), live.clone());
            books.begin();
            for _ in 0..below(&mut seed, 60) {
                change(&mut books, &mut live, &mut seed);
            }
            check(&books, &live);
            if below(&mut seed, 3) == 0 {
                books.commit();
            } else {
                books.rollback();
                live = kept;
                assert_eq!(rows(&books), before);
            }
            check(&books, &live);
        }
    }
}
