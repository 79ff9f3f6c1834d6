<?php

// Loads every class of the generated client: php load-all.php client/lib
require __DIR__ . '/autoload.php';

foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator($argv[1])) as $file) {
    if ($file->getExtension() === 'php') {
        require_once $file->getPathname();
    }
}
