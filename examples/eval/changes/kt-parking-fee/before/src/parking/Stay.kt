package parking

import java.time.Duration
import java.time.Instant

/** A finished stay; `left` is not before `entered`. */
data class Stay(val plate: String, val entered: Instant, val left: Instant) {
    init {
        require(!left.isBefore(entered)) { "stay of $plate ends before it begins" }
    }

    /** Whole minutes between entry and exit. */
    val minutes: Long
        get() = Duration.between(entered, left).toMinutes()
}
