package fleet

/** A device of the fleet. */
data class Device(
    val id: String,
    val inMaintenance: Boolean,
    /** Time of the last report in seconds since the epoch, null if there was none. */
    val lastReport: Long?,
)
