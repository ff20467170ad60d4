package parcel

import java.util.logging.Level
import java.util.logging.Logger
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Job
import kotlinx.coroutines.delay
import kotlinx.coroutines.launch

private const val INTERVAL_MS = 30_000L

/** Polls the status of a parcel while its view is open. */
class Poller(
    private val tracker: Tracker,
    private val show: (Status) -> Unit,
) {
    private val log = Logger.getLogger(Poller::class.java.name)

    /** Starts polling in the scope of the view. */
    fun start(scope: CoroutineScope, parcelId: String): Job = scope.launch {
        var delivered = false
        while (!delivered) {
            delivered = poll(parcelId)
        }
    }

    /** Waits and polls once; returns true if the parcel is delivered. */
    private suspend fun poll(parcelId: String): Boolean {
        try {
            delay(INTERVAL_MS)
            val status = tracker.status(parcelId)
            show(status)
            return status == Status.DELIVERED
        } catch (failure: Exception) {
            log.log(Level.WARNING, "polling of parcel $parcelId failed", failure)
            return false
        }
    }
}
