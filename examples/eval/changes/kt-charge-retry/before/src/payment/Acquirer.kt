package payment

import java.io.IOException

sealed interface Answer {
    data class Charged(val reference: String) : Answer
    data class Declined(val reason: String) : Answer
}

interface Acquirer {
    /** Charges the card; requests with the same key are executed once. */
    @Throws(IOException::class)
    fun charge(cardToken: String, cents: Long, idempotencyKey: String): Answer
}
