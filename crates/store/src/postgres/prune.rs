//! Removal of old tasks that are completed, failed or cancelled.

use std::time::Duration;

use super::pool::RetryMode;
use super::{PgQueue, millis};
use crate::queue::QueueError;

/// Removes tasks that ended longer ago than given, except the dependencies of a task that is not
/// completed.
const PRUNE: &str = "
    WITH needed AS MATERIALIZED (
        SELECT DISTINCT n.id
        FROM assay_tasks t
            CROSS JOIN LATERAL json_array_elements_text(
                CASE WHEN json_typeof(t.body -> 'depends_on') = 'array'
                    THEN t.body -> 'depends_on' ELSE '[]' END
            ) AS n (id)
        WHERE t.status <> 'completed'
    )
    DELETE FROM assay_tasks t
    WHERE t.status <> 'open' AND t.ended < now() - $1::int8 * interval '1 millisecond'
        AND NOT EXISTS (SELECT FROM needed n WHERE n.id = t.id)
        AND NOT EXISTS (SELECT FROM assay_needs n WHERE n.needs = t.id)";

impl PgQueue {
    /// Removes tasks that ended longer ago than `older_than`, and returns their number.
    pub(super) fn prune(&self, older_than: Duration) -> Result<usize, QueueError> {
        let age = millis(older_than);
        let removed = self
            .pool
            .run(RetryMode::UntilRestarted, |conn, _| Ok(conn.execute(PRUNE, &[&age])?))?;
        Ok(usize::try_from(removed).unwrap_or(usize::MAX))
    }
}
