package payment

import java.io.IOException
import java.util.UUID

/** Result of a charge for the order process. */
sealed interface Outcome {
    data class Paid(val reference: String) : Outcome
    data class Refused(val reason: String) : Outcome
    data class Review(val cause: IOException) : Outcome
}

class Charges(private val acquirer: Acquirer) {

    /** Charges the card. */
    fun charge(cardToken: String, cents: Long): Outcome =
        try {
            outcomeOf(acquirer.charge(cardToken, cents, UUID.randomUUID().toString()))
        } catch (broken: IOException) {
            Outcome.Review(broken)
        }

    private fun outcomeOf(answer: Answer): Outcome = when (answer) {
        is Answer.Charged -> Outcome.Paid(answer.reference)
        is Answer.Declined -> Outcome.Refused(answer.reason)
    }
}
