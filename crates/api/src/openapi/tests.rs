use super::*;
use scarce_core::command::COMMANDS;
use scarce_core::outcome::Code;
use scarce_core::outcome::shape::{Shape, names};

fn pointers<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|value| pointers(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| pointers(value, found)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_in_every_language() {
    for language in Language::ALL {
        let document = document("0.0.0", *language);
        let mut found = Vec::new();
        pointers(&document, &mut found);
        assert!(found.len() > 500);
        for pointer in found {
            let target = document.pointer(pointer.trim_start_matches('#'));
            assert!(target.is_some(), "{pointer}");
        }
    }
}

#[test]
fn every_refusal_of_a_command_stands_at_its_route() {
    let document = document("0.0.0", Language::English);
    for route in ROUTES {
        let spec = route.spec().expect("a command");
        let method = route.method.word().to_ascii_lowercase();
        let responses = &document["paths"][route.path][method.as_str()]["responses"];
        for code in spec.refusals.iter().chain([&Code::Invalid, &Code::Unknown]) {
            let words = responses[code.http_status().to_string()]
                .pointer("/content/application~1problem+json/schema/allOf/1/properties/code/enum")
                .and_then(Value::as_array)
                .unwrap_or_else(|| panic!("{} has no {}", route.command, code.http_status()));
            assert!(words.contains(&code.word().into()), "{} lacks {}", route.command, code.word());
        }
    }
}

#[test]
fn no_operation_has_the_name_of_another() {
    let document = document("0.0.0", Language::English);
    let paths = document["paths"].as_object().expect("paths");
    let mut names: Vec<&str> = paths
        .values()
        .flat_map(|methods| methods.as_object().expect("methods").values())
        .map(|operation| operation["operationId"].as_str().expect("a name"))
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(count > ROUTES.len());
}

#[test]
fn rows_have_terms() {
    for value in COMMANDS.iter().flat_map(|spec| spec.reply) {
        let Shape::Rows(row) = value.value_type.shape else { continue };
        for name in names(row.values) {
            assert!(crate::glossary::term_in(row.name, name).is_some(), "{} {name}", row.name);
        }
    }
}

#[test]
fn no_dimension_has_the_name_of_an_option_behind_it() {
    for (option, _) in scarce_core::command::COMMON_OPTIONS {
        let name = format!("|{}", option.to_ascii_lowercase());
        assert!(schemas::DIMENSION_PATTERN.contains(&name), "{option}");
    }
}

#[test]
fn every_command_that_changes_something_takes_a_durability_and_tells_the_one_reached() {
    let document = document("0.0.0", Language::English);
    let parameter = json!({ "$ref": "#/components/parameters/Durability" });
    let schemas = &document["components"]["schemas"];
    for route in ROUTES.iter().filter(|route| route.command != "OPERATION.RESOLVE") {
        let method = route.method.word().to_ascii_lowercase();
        let parameters = document["paths"][route.path][method]["parameters"].as_array().expect("parameters");
        assert_eq!(parameters.contains(&parameter), route.is_write(), "{}", route.command);
        let line = &schemas[format!("{}Operation", schemas::type_name(route.command))];
        let has_field = line["properties"].get("durability").is_some();
        assert_eq!(has_field, route.is_write(), "{}", route.command);
    }
    let required = schemas["Receipt"]["required"].as_array().expect("names");
    assert!(required.contains(&"durability".into()));
}
