use super::*;

fn read(line: &str) -> Result<(Command, Common), Invalid> {
    let mut words = line.split(' ').map(str::as_bytes);
    let spec = words.next().and_then(table::find).expect("a command");
    Command::parse(spec, &words.collect::<Vec<_>>())
}

fn fingerprint(line: &str) -> u64 {
    let (command, common) = read(line).expect(line);
    let envelope = Envelope::new("", common, Body::Single(command), &[0; 32]).expect(line);
    envelope.fingerprint(&mut Vec::new())
}

#[test]
fn the_content_hash_is_of_the_command_alone() {
    let plain = fingerprint("ACCOUNT.CREDIT a 5");
    for options in ["ID x", "DEADLINE 5", "DURABILITY memory", "DURABILITY synced ID x DEADLINE 5"] {
        assert_eq!(fingerprint(&format!("ACCOUNT.CREDIT a 5 {options}")), plain, "{options}");
    }
    assert_ne!(fingerprint("ACCOUNT.CREDIT a 6"), plain);
}

#[test]
fn the_common_options_are_those_that_the_parser_takes() {
    for (option, _) in COMMON_OPTIONS {
        let missing = read(&format!("STOCK.CLOSE s {option}")).expect_err("without a value");
        assert_eq!((missing.argument, &*missing.reason), (option, "is missing"));
        let unknown = read(&format!("STOCK.GET s {option}")).expect_err("a read has none");
        assert_eq!(unknown.argument, "option");
        assert!(is_common_option(option.to_ascii_lowercase().as_bytes()), "{option}");
    }
    assert!(!is_common_option(b"USER"));
}

#[test]
fn usage_lines_show_the_common_options_where_they_are_taken() {
    let usage = |name: &str| table::find(name.as_bytes()).expect("a command").usage();
    let expected = "STOCK.CLOSE sku [ID operation-id] [DEADLINE ms] [DURABILITY level]";
    assert_eq!(usage("STOCK.CLOSE"), expected);
    assert_eq!(usage("STOCK.GET"), "STOCK.GET sku");
    assert_eq!(usage("OPERATION.RESOLVE"), "OPERATION.RESOLVE operation ON resource");
}
