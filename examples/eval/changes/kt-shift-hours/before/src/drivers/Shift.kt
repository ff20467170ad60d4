package drivers

import java.time.Duration
import java.time.LocalDateTime

/** A shift in depot time; depots close over clock changes. */
data class Shift(val driver: String, val start: LocalDateTime, val end: LocalDateTime) {
    init {
        require(end > start) { "shift of $driver has no length" }
    }

    val length: Duration
        get() = Duration.between(start, end)
}
