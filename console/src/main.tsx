import { render } from 'preact';
import { App } from './app.js';
import { listenForAnswers } from './queue/answers.js';
import { restoreSession } from './session/session.js';

restoreSession();
listenForAnswers();
const root = document.getElementById('app');
if (root) render(<App />, root);
