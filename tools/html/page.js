// SPDX-License-Identifier: Apache-2.0
// The copy button of a console block gives its commands, without "$ " and without what they print. `$ cat FILE` is
// followed by the file, which is copied as a command that writes it.
"use strict";
(() => {
  const commandsOf = (text) => {
    const commands = [];
    let file = null;
    const close = () => {
      if (file !== null)
        commands.push("EOF");
      file = null;
    };
    for (const line of text.replace(/\n+$/, "").split("\n")) {
      if (line.startsWith("$ ")) {
        close();
        const cat = line.match(/^\$ cat ([\w.\/-]+)$/);
        file = cat ? cat[1] : null;
        commands.push(cat ? `cat >${file} <<'EOF'` : line.slice(2));
      } else if (file !== null) {
        commands.push(line);
      } else if (commands.length && commands[commands.length - 1].endsWith("\\")) {
        commands.push(line);
      }
    }
    close();
    return commands.join("\n") + "\n";
  };
  // Before the theme's own listener, which takes this text where it is given.
  document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest("button[data-clipboard-target]");
    const block = button && button.closest(".language-console");
    if (block && !button.hasAttribute("data-clipboard-text"))
      button.setAttribute("data-clipboard-text", commandsOf(block.querySelector("code").innerText));
  }, true);
})();
