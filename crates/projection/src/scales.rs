//! Of how many decimals the amounts of each asset are, for the views that show them so.

use sqlx::Error;
use tokio::sync::OnceCell;

use crate::Projection;
use crate::store::Link;
use crate::table::{Cell, ColumnKind};

/// The scales that the tables are to have, written once by each process.
#[derive(Debug, Default)]
pub(crate) struct Scales {
    wanted: Vec<(String, u8)>,
    written: OnceCell<()>,
}

impl Projection {
    /// The same projection, whose consumers write into the tables at their start of how many decimals the amounts of these
    /// assets are. Assets that are not named stay as they are there.
    #[must_use]
    pub fn with_scales(self, wanted: Vec<(String, u8)>) -> Self {
        let options = self.options();
        Self::of(self.store().clone(), options, Scales { wanted, written: OnceCell::new() })
    }
}

impl Scales {
    /// Writes them, unless that was done before.
    pub(crate) async fn write(&self, link: &mut Link) -> Result<(), Error> {
        if self.wanted.is_empty() {
            return Ok(());
        }
        self.written.get_or_try_init(|| self.write_changed(link)).await.map(drop)
    }

    async fn write_changed(&self, link: &mut Link) -> Result<(), Error> {
        link.begin().await?;
        for (asset, scale) in &self.wanted {
            let (asset, scale) = (Cell::from(asset.as_str()), i64::from(*scale));
            let sql = "SELECT scale FROM assets WHERE asset = ?";
            let found = link.fetch(sql, std::slice::from_ref(&asset), &[ColumnKind::Integer]).await?;
            if found.first().and_then(|row| row.first()?.integer()) == Some(scale) {
                continue;
            }
            link.execute("DELETE FROM assets WHERE asset = ?", std::slice::from_ref(&asset)).await?;
            let units = 10_i64.pow(u32::try_from(scale).unwrap_or_default());
            let sql = "INSERT INTO assets (asset, scale, minor_units) VALUES (?, ?, ?)";
            link.execute(sql, &[asset, scale.into(), units.into()]).await?;
        }
        link.commit().await
    }
}
