<?php

declare(strict_types=1);

namespace Crossdock;

use ReflectionMethod;

/**
 * Creates a record from a JSON object of the service. Fields that this version of the library does not know are
 * ignored.
 *
 * @internal
 */
trait FromJson
{
    /**
     * @param array<string, mixed> $json
     */
    public static function fromJson(array $json): self
    {
        /** @var array<string, int>|null $fields */
        static $fields = null;
        $fields ??= array_flip(
            array_column((new ReflectionMethod(self::class, '__construct'))->getParameters(), 'name'),
        );

        return new self(...array_intersect_key($json, $fields));
    }
}
