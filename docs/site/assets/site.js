// Colours, menu, copy buttons and language tabs. Every page is complete without this script.
const root = document.documentElement;
const THEMES = {
  en: { light: ['Light', 'Use light colours'], dark: ['Dark', 'Use dark colours'] },
  es: { light: ['Claro', 'Tema claro'], dark: ['Oscuro', 'Tema oscuro'] },
}[root.lang];
const PLACEHOLDER = 'https://demo.crossdock.example';

root.classList.add('scripted');
applyTheme();
document.addEventListener('DOMContentLoaded', () => {
  setUpTheme();
  setUpMenu();
  keepSection();
  showThisHost();
  for (const block of document.querySelectorAll('article pre')) addCopyButton(block);
  groupTabs();
  markSection();
});

function stored(key, value) {
  try {
    if (value !== undefined) localStorage.setItem(key, value);
    return localStorage.getItem(key);
  } catch {
    // The browser forbids storage, so the choice lasts for this page only.
    return null;
  }
}

function applyTheme() {
  const theme = stored('theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
}

/** The theme is the browser's until the reader chooses one. */
function setUpTheme() {
  const button = document.querySelector('.theme');
  const isDark = () =>
    root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const label = () => {
    const [name, description] = THEMES[isDark() ? 'light' : 'dark'];
    button.textContent = name;
    button.setAttribute('aria-label', description);
  };
  button.hidden = false;
  label();
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    stored('theme', root.dataset.theme);
    label();
    document.dispatchEvent(new CustomEvent('themechange', { detail: { isDark: isDark() } }));
  });
}

function setUpMenu() {
  const button = document.querySelector('.menu');
  if (!button) return;
  const pages = document.querySelector('.pages');
  const setOpen = (isOpen) => {
    pages.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => {
    setOpen(!pages.classList.contains('open'));
    if (pages.classList.contains('open')) pages.querySelector('a').focus();
  });
  document.addEventListener('keydown', ({ key }) => {
    if (key !== 'Escape' || !pages.classList.contains('open')) return;
    setOpen(false);
    button.focus();
  });
}

/** The same page in another language opens at the same section. */
function keepSection() {
  for (const link of document.querySelectorAll('.languages a'))
    link.addEventListener('click', () => (link.hash = location.hash));
}

/** Replaces the example host by the host of this page, so that samples can be pasted. */
function showThisHost() {
  const main = document.querySelector('article');
  if (!main) return;
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.data.includes(PLACEHOLDER)) node.data = node.data.replaceAll(PLACEHOLDER, location.origin);
  }
}

function addCopyButton(block) {
  const wrapper = document.createElement('div');
  wrapper.className = 'block';
  block.replaceWith(wrapper);
  const button = document.createElement('button');
  button.className = 'copy';
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = 'Copied';
    } catch {
      // Without permission the reader can still select the text.
      button.textContent = 'Select and copy';
      getSelection().selectAllChildren(block);
    }
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  wrapper.append(block, button);
}

/** Turns neighbouring samples in several languages into tabs (WAI-ARIA tabs pattern). */
function groupTabs() {
  let count = 0;
  for (const first of document.querySelectorAll('section.tab')) {
    if (first.parentElement.className === 'tabs') continue;
    const panels = [first];
    while (panels.at(-1).nextElementSibling?.matches('section.tab'))
      panels.push(panels.at(-1).nextElementSibling);
    const group = document.createElement('div');
    const list = document.createElement('div');
    group.className = 'tabs';
    list.setAttribute('role', 'tablist');
    list.setAttribute('aria-label', 'Language');
    first.before(group);
    group.append(list, ...panels);
    for (const panel of panels) list.append(tabOf(panel, (count += 1)));
  }
  selectLanguage(stored('language') ?? '');
}

function tabOf(panel, number) {
  const tab = document.createElement('button');
  tab.type = 'button';
  tab.id = `tab-${number}`;
  tab.textContent = panel.dataset.label;
  tab.setAttribute('role', 'tab');
  tab.setAttribute('aria-controls', `panel-${number}`);
  panel.id = `panel-${number}`;
  panel.setAttribute('role', 'tabpanel');
  panel.setAttribute('aria-labelledby', tab.id);
  tab.addEventListener('click', () => choose(tab));
  tab.addEventListener('keydown', ({ key }) => {
    const tabs = [...tab.parentElement.children];
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (!step) return;
    const next = tabs.at((tabs.indexOf(tab) + step) % tabs.length);
    choose(next);
    next.focus();
  });
  return tab;
}

function choose(tab) {
  // The text above must not move when other groups change their height.
  const before = tab.getBoundingClientRect().top;
  stored('language', tab.textContent);
  selectLanguage(tab.textContent);
  scrollBy({ top: tab.getBoundingClientRect().top - before, behavior: 'instant' });
}

/** Selects the language in every group that has it, and the first one in the others. */
function selectLanguage(language) {
  for (const list of document.querySelectorAll('[role="tablist"]')) {
    const tabs = [...list.children];
    const current = tabs.find((tab) => tab.getAttribute('aria-selected') === 'true');
    const selected = tabs.find((tab) => tab.textContent === language) ?? current ?? tabs[0];
    for (const tab of tabs) {
      tab.setAttribute('aria-selected', String(tab === selected));
      tab.tabIndex = tab === selected ? 0 : -1;
      document.getElementById(tab.getAttribute('aria-controls')).hidden = tab !== selected;
    }
  }
}

/** Marks the section that the reader sees in the table of contents. */
function markSection() {
  const links = [...document.querySelectorAll('.toc a')];
  const sections = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
  if (sections.length === 0) return;
  const mark = () => {
    const passed = sections.filter((section) => section.getBoundingClientRect().top < 160).length;
    links.forEach((link, index) => link.classList.toggle('seen', index === Math.max(0, passed - 1)));
  };
  addEventListener('scroll', mark, { passive: true });
  mark();
}
