import java.io.File;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.raft.ElectionState;
import org.apache.kafka.raft.FileQuorumStateStore;
import org.apache.kafka.raft.ReplicaKey;
import org.apache.kafka.server.common.KRaftVersion;

/** Reads each quorum-state file that is named, prints what it says, and writes it anew beside it as NAME.again. */
public class QuorumFile {
    public static void main(String[] files) throws Exception {
        for (String name : files) {
            ElectionState state = new FileQuorumStateStore(new File(name)).readElectionState().get();
            ReplicaKey voted = state.optionalVotedKey().orElse(ReplicaKey.of(-1, Uuid.ZERO_UUID));
            System.out.println(state.epoch() + " " + state.leaderIdOrSentinel() + " " + voted.id() + " "
                + voted.directoryId().orElse(Uuid.ZERO_UUID));
            short level = (short) (name.contains("static") ? 0 : 1);
            new FileQuorumStateStore(new File(name + ".again")).writeElectionState(state, KRaftVersion.fromFeatureLevel(level));
        }
    }
}
