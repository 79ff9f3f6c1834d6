<?php

declare(strict_types=1);

namespace Crossdock;

use CURLFile;
use CURLStringFile;
use InvalidArgumentException;

/**
 * A file to upload.
 */
final class File
{
    private function __construct(
        /** @internal */
        public readonly CURLFile|CURLStringFile $part,
    ) {
    }

    /**
     * Takes the path of a file, or an open resource, which is read to its end.
     *
     * @param string|resource $source
     */
    public static function from(mixed $source, string $name, string $mediaType): self
    {
        if (is_resource($source)) {
            return new self(new CURLStringFile((string) stream_get_contents($source), $name, $mediaType));
        }
        if (!is_string($source) || !is_file($source) || !is_readable($source)) {
            throw new InvalidArgumentException('The file to upload must be a readable file or an open resource.');
        }

        return new self(new CURLFile($source, $mediaType, $name));
    }

    /**
     * Takes the content of a file.
     */
    public static function fromString(string $content, string $name, string $mediaType): self
    {
        return new self(new CURLStringFile($content, $name, $mediaType));
    }
}
