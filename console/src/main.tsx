import { render } from 'preact';
import { App } from './app.js';
import { keepPageOffline } from './offline/register.js';
import { listenForAnswers } from './queue/answers.js';
import { restoreSession } from './session/session.js';

restoreSession();
listenForAnswers();
const root = document.getElementById('app');
if (root) render(<App />, root);
// After the page, whose files it loads again. Without it the page works as long as there is a connection.
window.addEventListener('load', () => void keepPageOffline().catch(() => undefined));
