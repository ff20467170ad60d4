package parking

private const val FREE_MINUTES = 30L
private const val UNIT_MINUTES = 30L
private const val UNIT_CENTS = 80L
private const val DAY_MINUTES = 24L * 60L
private const val DAY_CAP_CENTS = 1200L

/** Returns the number of started units; `minutes` is not negative. */
private fun started(minutes: Long, unit: Long): Long = (minutes + unit - 1) / unit

/** Returns the fee of a stay in cents. */
fun feeCents(stay: Stay): Long {
    val minutes = stay.minutes
    if (minutes <= FREE_MINUTES) {
        return 0
    }
    val charged = minutes - FREE_MINUTES
    val fee = started(charged, UNIT_MINUTES) * UNIT_CENTS
    val cap = started(minutes, DAY_MINUTES) * DAY_CAP_CENTS
    return minOf(fee, cap)
}

/** Returns the receipt text of a stay. */
fun receipt(stay: Stay): String {
    val cents = feeCents(stay)
    val amount = "${cents / 100}.${(cents % 100).toString().padStart(2, '0')}"
    return "${stay.plate}: ${stay.minutes} min, $amount"
}
