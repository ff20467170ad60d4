package payment

import java.io.IOException
import java.util.UUID

private const val MAX_ATTEMPTS = 3

/** Result of a charge for the order process. */
sealed interface Outcome {
    data class Paid(val reference: String) : Outcome
    data class Refused(val reason: String) : Outcome
    data class Review(val cause: IOException) : Outcome
}

class Charges(private val acquirer: Acquirer) {

    /** Charges the card and tries again after broken connections. */
    fun charge(cardToken: String, cents: Long): Outcome {
        require(cents > 0) { "cents must be positive" }
        var attempt = 1
        while (true) {
            try {
                return outcomeOf(send(cardToken, cents))
            } catch (broken: IOException) {
                if (attempt == MAX_ATTEMPTS) {
                    return Outcome.Review(broken)
                }
                attempt += 1
            }
        }
    }

    private fun send(cardToken: String, cents: Long): Answer {
        val key = UUID.randomUUID().toString()
        return acquirer.charge(cardToken, cents, key)
    }

    private fun outcomeOf(answer: Answer): Outcome = when (answer) {
        is Answer.Charged -> Outcome.Paid(answer.reference)
        is Answer.Declined -> Outcome.Refused(answer.reason)
    }
}
