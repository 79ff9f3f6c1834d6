import { render } from 'preact';
import { App } from './app.js';
import { watchLoading } from './device/loading.js';
import { keepPageOffline } from './offline/register.js';
import { restoreSession, session } from './session/session.js';
import { loadParts } from './ui/part.js';
import { followLinks } from './ui/router.js';

restoreSession();
followLinks();
// The session goes on after a reload, so the workplace is needed at once.
if (session.value) {
  const { must_change_password: mustChoose, must_set_up_two_factor: mustSetUp } = session.value.user;
  // Other pages have fields for a person, and none for a scanner.
  if (!mustChoose && !mustSetUp) watchLoading();
  void loadParts();
}
const root = document.getElementById('app');
if (root) render(<App />, root);
// After the page, whose files it loads again. Without it the page works as long as there is a connection.
window.addEventListener('load', () => void keepPageOffline().catch(() => undefined));
