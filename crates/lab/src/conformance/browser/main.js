// An Electron app with one window, as small as one can be.
const { app, BrowserWindow } = require("electron");
app.on("ready", () => {
  const window = new BrowserWindow({ width: 800, height: 600 });
  window.loadURL(process.argv.find((word) => word.startsWith("http://")));
});
