package profile

private const val MAX_LENGTH = 60

/** Changes display names and keeps the history of them. */
class Renaming(
    private val profiles: Profiles,
    private val history: History,
) {
    /** Changes the display name and returns the stored profile. */
    fun rename(userId: Long, newName: String): Profile {
        val name = newName.trim()
        require(name.isNotEmpty() && name.length <= MAX_LENGTH) { "display name: 1 to $MAX_LENGTH characters" }
        val profile = profiles.get(userId)
        if (profile.displayName == name) {
            return profile
        }
        val renamed = profile.copy(displayName = name)
        profiles.save(renamed)
        val entries = history.add(userId, profile.displayName, name)
        return profiles.save(renamed.copy(historySize = entries))
    }
}
