package parcel

enum class Status { IN_TRANSIT, OUT_FOR_DELIVERY, DELIVERED }

interface Tracker {
    /** Asks the server for the status; cancellable, throws IOException on failures. */
    suspend fun status(parcelId: String): Status
}
