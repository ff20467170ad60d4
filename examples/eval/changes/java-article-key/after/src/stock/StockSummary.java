package stock;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Sums of the movements of one import. */
public final class StockSummary {
    private static final Comparator<Line> ORDER = Comparator
            .comparing((Line line) -> line.variant().article())
            .thenComparing(line -> line.variant().size());

    private StockSummary() {
    }

    /** One line of the summary. */
    public record Line(Variant variant, long quantity) {
    }

    /** Returns the lines of the summary in the order of the report. */
    public static List<Line> summarize(Iterable<Movement> movements) {
        Map<Variant, Long> sums = new HashMap<>();
        for (Movement movement : movements) {
            sums.merge(movement.variant(), (long) movement.quantity(), Long::sum);
        }
        List<Line> lines = new ArrayList<>();
        sums.forEach((variant, quantity) -> {
            if (quantity != 0) {
                lines.add(new Line(variant, quantity));
            }
        });
        lines.sort(ORDER);
        return lines;
    }
}
