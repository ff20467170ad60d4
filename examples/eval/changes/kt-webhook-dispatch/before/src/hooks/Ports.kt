package hooks

data class Event(val id: String, val json: String)

interface Sender {
    /** Sends the event; cancellable. Throws IOException if no confirmation comes in time. */
    suspend fun send(url: String, event: Event)
}

interface FailureLog {
    /** Records a failed delivery for the retry job; does not throw. */
    fun record(url: String, event: Event, reason: String)
}
