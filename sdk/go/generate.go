package crossdock

// The generator runs with the contract's document for code generators. It is not a dependency of this module.
//go:generate mkdir -p api
//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml ../../generated/openapi.sdk.json
