import java.awt.Component;
import java.awt.Container;
import java.awt.Frame;
import java.awt.Robot;
import java.awt.Window;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import javax.imageio.ImageIO;
import javax.swing.AbstractButton;
import javax.swing.JComboBox;
import javax.swing.JMenu;
import javax.swing.JTabbedPane;
import javax.swing.JTextArea;
import javax.swing.JTree;
import javax.swing.SwingUtilities;
import uk.ac.starlink.topcat.ControlWindow;
import uk.ac.starlink.topcat.Driver;
import uk.ac.starlink.topcat.TopcatModel;
import uk.ac.starlink.util.gui.ErrorDialog;

/**
 * Starts TOPCAT, opens its TAP window with a service, takes a picture of the window, and runs a query there.
 *
 * Arguments: the address of the service, the query, a table whose columns the picture shows, and the file of the picture.
 * It prints a line for each entry in the list of tables, and the number of rows of the loaded table.
 */
public class TopcatWindow {
    private static final long PATIENCE_MS = 300_000;
    private static final String TITLE = "Table Access Protocol (TAP) Query";

    public static void main(String[] arguments) throws Exception {
        Driver.main(new String[] {"-samp", "-nohub"});
        find(AbstractButton.class, button -> "Load Table".equals(button.getText()) && press(button));
        find(AbstractButton.class, button -> TITLE.equals(button.getText()) && press(button));
        find(JComboBox.class, box -> box.isEditable() && box.isShowing() && isInTapWindow(box) && choose(box, arguments[0]));
        find(AbstractButton.class, button -> "Use Service".equals(button.getText()) && press(button));
        JTree tree = find(JTree.class, shown -> isInTapWindow(shown) && select(shown, arguments[2]));
        find(JTextArea.class, area -> area.isShowing() && area.isEditable() && isInTapWindow(area) && write(area, arguments[1]));
        find(JTabbedPane.class, pane -> pane.isShowing() && isInTapWindow(pane) && showColumns(pane));
        Thread.sleep(3000); // the picture shows what the window has asked for meanwhile
        SwingUtilities.invokeAndWait(() -> printTables(tree));
        find(Frame.class, frame -> TITLE.equals(frame.getTitle()) && photograph(frame, new File(arguments[3])));
        find(AbstractButton.class, button -> "Run Query".equals(button.getText()) && press(button));
        find(ControlWindow.class, TopcatWindow::printLoaded);
        System.exit(0);
    }

    /** Waits until a component fulfils a condition, which may act on it, and returns the component. */
    private static <T> T find(Class<T> kind, Predicate<T> condition) throws Exception {
        List<T> matches = new ArrayList<>();
        long end = System.currentTimeMillis() + PATIENCE_MS;
        while (System.currentTimeMillis() < end) {
            SwingUtilities.invokeAndWait(() -> {
                for (Window window : Window.getWindows()) {
                    if (window instanceof ErrorDialog) {
                        window.dispose(); // the registries of services cannot be reached from here
                    } else if (window.isShowing()) {
                        listBelow(window).stream().filter(kind::isInstance).map(kind::cast)
                            .filter(component -> matches.isEmpty() && condition.test(component)).forEach(matches::add);
                    }
                }
            });
            if (!matches.isEmpty()) {
                return matches.get(0);
            }
            Thread.sleep(200);
        }
        System.err.println("TOPCAT shows no " + kind.getSimpleName() + " that is waited for");
        System.exit(1);
        return null;
    }

    private static List<Component> listBelow(Component root) {
        List<Component> all = new ArrayList<>(List.of(root));
        if (root instanceof JMenu menu) {
            for (Component part : menu.getMenuComponents()) {
                all.addAll(listBelow(part));
            }
        }
        if (root instanceof Container container) {
            for (Component part : container.getComponents()) {
                all.addAll(listBelow(part));
            }
        }
        return all;
    }

    private static boolean isInTapWindow(Component component) {
        return SwingUtilities.getWindowAncestor(component) instanceof Frame frame && TITLE.equals(frame.getTitle());
    }

    private static boolean press(AbstractButton button) {
        if (button.isEnabled()) {
            SwingUtilities.invokeLater(button::doClick);
        }
        return button.isEnabled();
    }

    private static boolean choose(JComboBox<?> box, String address) {
        box.setSelectedItem(address);
        return true;
    }

    private static boolean write(JTextArea area, String query) {
        area.setText(query);
        return true;
    }

    private static boolean showColumns(JTabbedPane pane) {
        for (int tab = 0; tab < pane.getTabCount(); tab++) {
            if (String.valueOf(pane.getTitleAt(tab)).startsWith("Columns")) {
                pane.setSelectedIndex(tab);
                return true;
            }
        }
        return false;
    }

    private static boolean select(JTree tree, String table) {
        for (int row = 0; row < tree.getRowCount(); row++) {
            tree.expandRow(row);
            if (tree.isShowing() && table.equals(describe(tree, row))) {
                tree.setSelectionRow(row);
                return true;
            }
        }
        return false;
    }

    private static String describe(JTree tree, int row) {
        return String.valueOf(tree.getPathForRow(row).getLastPathComponent());
    }

    private static void printTables(JTree tree) {
        for (int row = 0; row < tree.getRowCount(); row++) {
            System.out.println("table: " + describe(tree, row));
        }
    }

    private static boolean photograph(Frame frame, File file) {
        try {
            frame.toFront();
            return ImageIO.write(new Robot().createScreenCapture(frame.getBounds()), "png", file);
        } catch (Exception error) {
            throw new IllegalStateException(error);
        }
    }

    private static boolean printLoaded(ControlWindow window) {
        if (window.getTablesList().getModel().getSize() == 0) {
            return false;
        }
        TopcatModel loaded = (TopcatModel) window.getTablesList().getModel().getElementAt(0);
        System.out.println("rows: " + loaded.getDataModel().getRowCount());
        return true;
    }
}
