// Runs before the first paint, so that a dark screen never flashes white.
(() => {
  const choice = localStorage.getItem("vedette.theme");
  const dark =
    choice === "dark" || (choice !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
})();
