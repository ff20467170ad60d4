package drivers

import java.time.DayOfWeek
import java.time.Duration
import java.time.LocalDate
import java.time.temporal.TemporalAdjusters.previousOrSame

private val BREAK_AFTER: Duration = Duration.ofHours(6)
private val BREAK: Duration = Duration.ofMinutes(30)
private val WEEKLY_LIMIT: Duration = Duration.ofHours(48)

/** A week in which a driver worked too long. */
data class Violation(val driver: String, val monday: LocalDate, val minutesAbove: Long)

private fun monday(shift: Shift): LocalDate =
    shift.start.toLocalDate().with(previousOrSame(DayOfWeek.MONDAY))

/** Returns the working time of a shift without its break. */
fun workingTime(shift: Shift): Duration =
    if (shift.length >= BREAK_AFTER) shift.length - BREAK else shift.length

/** Returns the violations of the weekly limit, by driver and week. */
fun violations(shifts: List<Shift>): List<Violation> =
    shifts
        .groupBy { it.driver to monday(it) }
        .mapValues { (_, week) -> week.map(::workingTime).fold(Duration.ZERO, Duration::plus) }
        .filterValues { it.toHours() > WEEKLY_LIMIT.toHours() }
        .map { (key, time) ->
            Violation(key.first, key.second, (time - WEEKLY_LIMIT).toMinutes())
        }
        .sortedWith(compareBy({ it.driver }, { it.monday }))
