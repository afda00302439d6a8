//! Of how many decimals the amounts of assets are: for people, who do not count in minor units.

use std::str::FromStr;

use scarce_core::types::Id;

use super::table::Spec;
use super::value::{Kind, Setting};

/// The maximum number of decimals of an asset.
pub const DECIMALS_MAX: u8 = 18;

/// The number of decimals of an asset's amounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssetScale {
    /// The asset.
    pub asset: String,
    /// How many decimals.
    pub decimals: u8,
}

impl FromStr for AssetScale {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (asset, decimals) = text.split_once('=').ok_or("must be as EUR=2")?;
        Id::parse(asset.as_bytes(), "the asset").map_err(|problem| problem.to_string())?;
        let decimals = decimals.parse().ok().filter(|decimals| *decimals <= DECIMALS_MAX);
        let decimals = decimals.ok_or_else(|| format!("decimals must be 0 to {DECIMALS_MAX}"))?;
        Ok(Self { asset: asset.to_owned(), decimals })
    }
}

/// The scales of several assets, each named once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AssetScales(pub Vec<AssetScale>);

impl Setting for AssetScales {
    const KIND: Kind = Kind::Text;

    fn shape(_spec: &Spec) -> String {
        format!(
            "ASSET=DECIMALS as EUR=2, several with commas between them; each asset once, 0 to {DECIMALS_MAX} decimals"
        )
    }

    fn read(text: &str, _spec: &Spec) -> Option<Self> {
        let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
        let scales: Vec<AssetScale> = parts.map(|part| part.parse().ok()).collect::<Option<_>>()?;
        let is_named_before =
            |(at, its): (usize, &AssetScale)| scales[..at].iter().any(|other| other.asset == its.asset);
        (!scales.is_empty() && !scales.iter().enumerate().any(is_named_before)).then_some(Self(scales))
    }

    fn unset() -> Option<Self> {
        Some(Self::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SETTINGS;

    fn read(text: &str) -> Option<Vec<(String, u8)>> {
        let spec = SETTINGS.iter().find(|spec| spec.key == "sql_asset_scales").expect("the setting");
        let scales = AssetScales::read(text, spec)?.0;
        Some(scales.into_iter().map(|its| (its.asset, its.decimals)).collect())
    }

    #[test]
    fn each_asset_is_named_once_with_a_number_of_decimals_that_amounts_can_have() {
        let expected =
            [("EUR", 2), ("JPY", 0), ("WEI", 18)].map(|(asset, decimals)| (asset.to_owned(), decimals));
        assert_eq!(read("EUR=2, JPY=0,WEI=18"), Some(expected.to_vec()));
        for text in ["", ",", "EUR", "EUR=", "EUR=19", "EUR=-1", "EUR=2,EUR=2", "EUR=2;JPY=0", "=2", "E R=2"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
