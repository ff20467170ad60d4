package profile

data class Profile(
    val userId: Long,
    val displayName: String,
    val historySize: Int,
    val version: Int,
)

class StaleProfileException(userId: Long) : Exception("profile of $userId was changed meanwhile")

interface Profiles {
    fun get(userId: Long): Profile

    /**
     * Stores the profile if its version is the stored one, and returns it with the next
     * version; throws StaleProfileException otherwise.
     */
    fun save(profile: Profile): Profile
}

interface History {
    /** Adds an entry and returns the number of entries of the user. */
    fun add(userId: Long, oldName: String, newName: String): Int
}
