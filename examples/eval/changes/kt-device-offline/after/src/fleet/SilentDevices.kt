package fleet

private const val SILENT_AFTER_MS = 15 * 60 * 1000L
private const val MINUTE_MS = 60 * 1000L

/** A device without a recent report. */
data class SilentDevice(val id: String, val note: String)

/** Finds silent devices; `clock` returns milliseconds since the epoch. */
class SilentDevices(private val clock: () -> Long = System::currentTimeMillis) {

    /** Returns the silent devices, the longest silence first. */
    fun find(devices: List<Device>): List<SilentDevice> {
        val now = clock()
        return devices
            .filterNot { it.inMaintenance }
            .filter { isSilent(it, now) }
            .sortedBy { it.lastReport ?: Long.MIN_VALUE }
            .map { SilentDevice(it.id, note(it, now)) }
    }

    private fun isSilent(device: Device, now: Long): Boolean {
        val last = device.lastReport ?: return true
        return now - last > SILENT_AFTER_MS
    }

    private fun note(device: Device, now: Long): String {
        val last = device.lastReport ?: return "never"
        return "${(now - last) / MINUTE_MS} min"
    }
}
