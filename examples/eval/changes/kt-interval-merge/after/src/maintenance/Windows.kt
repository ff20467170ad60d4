package maintenance

import java.time.Duration

/** Returns the windows in ascending order, with overlapping and touching ones merged. */
fun merge(windows: Collection<Window>): List<Window> {
    val merged = mutableListOf<Window>()
    for (window in windows.filterNot { it.isEmpty }.sortedBy { it.start }) {
        val last = merged.lastOrNull()
        if (last == null || window.start > last.end) {
            merged += window
        } else if (window.end > last.end) {
            merged[merged.lastIndex] = last.copy(end = window.end)
        }
    }
    return merged
}

/** Returns the time that the windows cover. */
fun downtime(windows: Collection<Window>): Duration =
    merge(windows).fold(Duration.ZERO) { sum, window ->
        sum + Duration.between(window.start, window.end)
    }

/** Returns the gaps between the merged windows. */
fun gaps(windows: Collection<Window>): List<Window> =
    merge(windows).zipWithNext { left, right -> Window(left.end, right.start) }
