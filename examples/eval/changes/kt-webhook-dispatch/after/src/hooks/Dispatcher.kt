package hooks

import kotlinx.coroutines.CancellationException

/** Result of the delivery of one event. */
data class Delivery(val confirmed: Int, val failed: Int)

/** Delivers events to the receivers of an account. */
class Dispatcher(
    private val sender: Sender,
    private val failures: FailureLog,
) {
    /** Sends the event to all receivers and returns the counts. */
    suspend fun dispatch(event: Event, receivers: List<String>): Delivery {
        val confirmed = receivers.count { deliver(event, it) }
        return Delivery(confirmed, receivers.size - confirmed)
    }

    private suspend fun deliver(event: Event, url: String): Boolean =
        try {
            sender.send(url, event)
            true
        } catch (cancelled: CancellationException) {
            throw cancelled
        } catch (failure: Exception) {
            failures.record(url, event, failure.message ?: failure.javaClass.simpleName)
            false
        }
}
