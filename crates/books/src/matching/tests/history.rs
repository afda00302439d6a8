//! Many files one after the other.

use super::{MAP, day, found, map};
use crate::map::Map;
use crate::report::Matter;
use crate::state::{Again, State};

/// A line: day, amount, operation, text.
type Line<'t> = (i32, i64, &'t str, &'t str);

fn csv(lines: &[Line<'_>]) -> String {
    let line = |(its, amount, id, text): &Line<'_>| {
        format!(
            "{},{}{}.{:02},{id},{text}\n",
            day(*its),
            if *amount < 0 { "-" } else { "" },
            amount.abs() / 100,
            amount.abs() % 100
        )
    };
    format!("date,amount,id,text\n{}", lines.iter().map(line).collect::<String>())
}

/// Compares files of one day each, and says what is open after each of them.
fn daily(map: &Map, files: &[&[Line<'_>]], ours: &[super::Ours<'_>]) -> Vec<Vec<Matter>> {
    let mut state = None;
    let mut open = Vec::new();
    for (at, lines) in (1..).zip(files) {
        let days = Some((day(at), day(at)));
        let (report, after) = super::run_days(map, &csv(lines), days, ours, state);
        open.push(report.findings.iter().map(|its| its.matter).collect());
        state = Some(after);
    }
    open
}

#[test]
fn daily_files_of_what_agrees_stay_equal() {
    let ids: Vec<String> = (0..20).map(|its| format!("pay-{its}")).collect();
    let ours: Vec<_> = ids
        .iter()
        .enumerate()
        .map(|(at, id)| (i32::try_from(at).unwrap_or(0) - 5, 1_000, id.as_str(), "", ""))
        .collect();
    let lines: Vec<[Line<'_>; 1]> = (1..=14)
        .map(|its: i32| [(its, 1_000, ids[usize::try_from(its + 5).unwrap_or(0)].as_str(), "")])
        .collect();
    let files: Vec<&[Line<'_>]> = lines.iter().map(|its| &its[..]).collect();
    let open = daily(&map(MAP), &files, &ours);
    assert!(open.iter().all(Vec::is_empty), "movements before the first day are not missed: {open:?}");
}

#[test]
fn what_was_settled_two_files_ago_settles_nothing_again() {
    let map = map(MAP);
    let ours = [(1, -5_000, "payout-1", "", ""), (1, 700, "x-1", "", "")];
    let first: &[Line<'_>] = &[(1, -5_000, "payout-1", ""), (1, 700, "x-1", "")];
    let open = daily(
        &map,
        &[first, &[], &[(3, -5_000, "payout-1", "")], &[(4, 700, "stranger", "nobody")], &[]],
        &ours,
    );
    let both = vec![Matter::MissingHere, Matter::Doubled];
    assert_eq!(open, [vec![], vec![], vec![Matter::Doubled], both.clone(), both]);
}

#[test]
fn a_pair_that_differs_is_one_finding_in_files_that_overlap_and_in_those_that_do_not() {
    let map = map(MAP);
    let ours = [(1, 8_000, "p-1", "", "")];
    let line: Line<'_> = (1, 7_900, "p-1", "");
    let open = daily(&map, &[&[line], &[], &[], &[], &[], &[]], &ours);
    assert!(open.iter().all(|its| *its == [Matter::Different]), "{open:?}");
    let mut state = None;
    for its in 1..6 {
        let (report, after) = super::run_days(&map, &csv(&[line]), Some((day(1), day(its))), &ours, state);
        assert_eq!(found(&report).len(), 1, "{report:#?}");
        state = Some(after);
    }
}

#[test]
fn what_is_in_transit_is_not_missing_before_its_days_are_over() {
    let none: &[Line<'_>] = &[];
    let open = daily(&map(MAP), &[none; 6], &[(2, 500, "op", "", "")]);
    let (transit, missing) = (vec![Matter::InTransit], vec![Matter::MissingThere]);
    assert_eq!(open, [vec![], transit.clone(), transit.clone(), transit, missing.clone(), missing]);
}

#[test]
fn a_file_of_the_same_days_replaces_the_last_one_only_if_it_has_all_its_lines() {
    let map = map(MAP);
    let ours = [(3, 100, "i-1", "", ""), (3, 200, "i-2", "", "")];
    let files = |lines: &[Line<'_>], days, state, again| {
        super::try_run_as(again, &map, &csv(lines), days, &ours, state)
            .map(|(report, after)| (found(&report).len(), report.replaces, after))
    };
    let (stray, first, second) = ((3, 9_900, "stray", ""), (3, 100, "i-1", ""), (3, 200, "i-2", ""));
    let third = Some((day(3), day(3)));
    let (_, _, state) =
        files(&[first, stray], third, None, Again::Same).unwrap_or_else(|error| panic!("{error}"));
    for (lines, days) in
        [(&[second][..], third), (&[first], third), (&[], third), (&[first], Some((day(1), day(2))))]
    {
        let refused = files(lines, days, Some(state.clone()), Again::Same).map(|_| ());
        assert!(
            refused.as_ref().is_err_and(|why| why.contains("--further") || why.contains("order")),
            "{refused:?}"
        );
    }
    for (again, lines, open, replaced) in [
        (Again::Same, &[first, stray, second][..], 1, third),
        (Again::Correction, &[first, second], 0, third),
        (Again::Further, &[second], 1, None),
    ] {
        let (count, replaces, after) =
            files(lines, third, Some(state.clone()), again).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((count, replaces), (open, replaced), "{again:?}");
        let next = files(&[], Some((day(4), day(4))), Some(after), Again::Same);
        assert_eq!(next.unwrap_or_else(|error| panic!("{error}")).0, open, "{again:?}");
    }
    assert!(files(&[first], third, None, Again::Correction).is_err());
}

#[test]
fn a_state_is_of_one_deployment_and_of_one_way_to_read_amounts_and_days() {
    let mut state = State::new(&map(MAP));
    assert!(state.be_of("aa").is_ok() && state.be_of("aa").is_ok());
    assert!(state.be_of("bb").is_err_and(|why| why.to_string().contains("of deployment aa")));
    let mut bytes = Vec::new();
    state.write(&mut bytes).unwrap_or_else(|error| panic!("{error}"));
    for (other, said) in [
        (MAP.replace("scale = 2", "scale = 0"), "amounts.scale = 2"),
        (MAP.replace("[columns]", "here.opposite = true\n[columns]"), "here.opposite = false"),
        (MAP.replace("[columns]", "here.utc_offset = '+01:00'\n[columns]"), "here.utc_offset = +00:00"),
    ] {
        let read = State::read(&bytes, &map(&other)).map(|_| ()).map_err(|error| error.to_string());
        assert!(read.as_ref().is_err_and(|why| why.contains(said)), "{read:?}");
    }
    // What is known is kept as it was found: another tolerance harms nothing.
    assert!(State::read(&bytes, &map(&format!("{MAP}[match]\ntolerance_days = 20\n"))).is_ok());
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn day(&mut self, end: u64) -> i32 {
        i32::try_from(self.below(end)).unwrap_or(0)
    }
}

/// What a bank and Scarce have of the same payments.
#[derive(Default)]
struct History {
    ours: Vec<(i32, i64, String)>,
    lines: Vec<(i32, i64, String, String)>,
}

const DAYS: i32 = 20;

/// Movements of which the bank shows the operation, names it in a text, or says nothing but the amount.
fn history(random: &mut Random) -> History {
    let mut history = History::default();
    for at in 0..40 {
        let its_day = random.day(24) - 3;
        let amount = [500, 700, 1_100][random.day(3).unsigned_abs() as usize];
        let id = format!("pay-{at:03}");
        let booked = its_day + random.day(4);
        // What was before the first file is named: nobody knows what its statement had.
        let (operation, text) = match random.below(3) {
            _ if its_day < 1 => (id.clone(), String::new()),
            0 => (id.clone(), "thanks".to_owned()),
            1 => (String::new(), format!("re {id} thanks")),
            _ => (String::new(), String::new()),
        };
        history.ours.push((its_day, amount, id));
        history.lines.push((booked, amount, operation, text));
    }
    history.ours.sort();
    history
}

/// The files of a history: days after each other, or such that overlap.
fn cuts(random: &mut Random) -> Vec<(i32, i32)> {
    let (step, overlap) = (1 + random.day(3), random.day(4));
    (0..)
        .map(|at| 1 + at * step)
        .take_while(|from| *from <= DAYS)
        .map(|from| ((from - overlap).max(1), (from + step - 1).min(DAYS)))
        .collect()
}

fn compare(
    map: &Map,
    its: &History,
    (from, through): (i32, i32),
    state: Option<State>,
) -> (Vec<(Matter, String)>, State) {
    // Places are those of one log, whatever is in it by then.
    assert!(its.ours.is_sorted());
    let lines: Vec<Line<'_>> = its
        .lines
        .iter()
        .filter(|line| (from..=through).contains(&line.0))
        .map(|(day, amount, id, text)| (*day, *amount, id.as_str(), text.as_str()))
        .collect();
    let ours: Vec<_> = its
        .ours
        .iter()
        .filter(|its| its.0 <= through)
        .map(|(day, amount, id)| (*day, *amount, id.as_str(), "", ""))
        .collect();
    let (report, state) = super::run_days(map, &csv(&lines), Some((day(from), day(through))), &ours, state);
    let open = report.findings.iter().filter(|its| its.matter != Matter::InTransit);
    (open.map(|its| (its.matter, its.operation.clone())).collect(), state)
}

#[test]
fn right_books_are_equal_however_they_are_cut_into_files() {
    let map = map(MAP);
    for seed in 0..200 {
        let mut random = Random(seed);
        let (history, cuts) = (history(&mut random), cuts(&mut random));
        let mut state = None;
        for cut in &cuts {
            let (open, after) = compare(&map, &history, *cut, state);
            assert!(open.is_empty(), "seed {seed}, file {cut:?} of {cuts:?}: {open:?}");
            state = Some(after);
        }
    }
}

#[test]
fn what_is_wrong_is_named_once_in_every_file_until_it_is_put_right() {
    let map = map(MAP);
    for seed in 0..100 {
        let mut random = Random(seed);
        let (mut history, mut cuts) = (history(&mut random), cuts(&mut random));
        let its_day = 4 + random.day(8);
        let named = |its: &str| (its_day, 4_242, its.to_owned(), String::new());
        let matter = [Matter::MissingHere, Matter::MissingThere, Matter::Different, Matter::Doubled]
            [random.day(4).unsigned_abs() as usize];
        match matter {
            Matter::MissingHere => history.lines.push(named("fault")),
            Matter::MissingThere => history.ours.push((its_day, 4_242, "fault".to_owned())),
            Matter::Different => {
                history.ours.push((its_day, 4_241, "fault".to_owned()));
                history.lines.push(named("fault"));
            }
            _ => {
                history.ours.push((its_day, 4_242, "fault".to_owned()));
                let (_, amount, id, text) = named("fault");
                history.lines.push(named("fault"));
                // Another movement of the same amount never comes, or the bank took one for the other.
                history.lines.push((its_day + 1 + random.day(3), amount, id, text));
            }
        }
        history.ours.sort();
        cuts.extend((DAYS + 1..DAYS + 6).map(|its| (its, its)));
        let (mut state, mut seen) = (None, false);
        for cut in &cuts {
            let (open, after) = compare(&map, &history, *cut, state);
            seen |= !open.is_empty();
            let expected = vec![(matter, "fault".to_owned()); usize::from(seen)];
            assert_eq!(open, expected, "seed {seed}, file {cut:?} of {cuts:?}");
            state = Some(after);
        }
        assert!(seen, "seed {seed}");
        let mut state = state.unwrap_or_else(|| State::new(&map));
        let id = state.last_open().first().map(|its| its.id.clone()).unwrap_or_default();
        state.close(&id, "seen", day(30)).unwrap_or_else(|error| panic!("{error}"));
        for its in DAYS + 6..DAYS + 20 {
            let (open, after) = compare(&map, &history, (its, its), Some(state));
            assert!(open.is_empty(), "seed {seed}: {open:?}");
            state = after;
        }
    }
}
