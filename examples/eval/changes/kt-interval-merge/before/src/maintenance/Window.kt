package maintenance

import java.time.Instant

/** A half-open window; `end` is not before `start`. */
data class Window(val start: Instant, val end: Instant) {
    init {
        require(!end.isBefore(start)) { "window ends before it starts" }
    }

    val isEmpty: Boolean
        get() = start == end
}
