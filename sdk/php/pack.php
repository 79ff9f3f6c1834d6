<?php

/**
 * Packs the library into dist/.
 */

declare(strict_types=1);

require __DIR__ . '/autoload.php';

$package = __DIR__ . '/dist/crossdock-php-' . Crossdock\Version::NUMBER . '.zip';
if (!is_dir(dirname($package))) {
    mkdir(dirname($package));
}
if (is_file($package)) {
    unlink($package);
}
$archive = new PharData($package, 0, null, Phar::ZIP);
foreach (['composer.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'REFERENCE.md', 'autoload.php'] as $file) {
    $archive->addFile(__DIR__ . "/$file", $file);
}
foreach (['src', 'generated', 'examples'] as $folder) {
    $files = new RecursiveDirectoryIterator(__DIR__ . "/$folder", FilesystemIterator::SKIP_DOTS);
    foreach (new RecursiveIteratorIterator($files) as $file) {
        $archive->addFile($file->getPathname(), substr($file->getPathname(), strlen(__DIR__) + 1));
    }
}
$archive->compressFiles(Phar::GZ);
