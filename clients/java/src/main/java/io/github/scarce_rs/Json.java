package io.github.scarce_rs;

import com.google.gson.FieldNamingPolicy;
import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.ToNumberPolicy;

/** JSON into the generated types and back. */
final class Json {
    private static final Gson GSON = new GsonBuilder()
            .setFieldNamingPolicy(FieldNamingPolicy.LOWER_CASE_WITH_UNDERSCORES)
            .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
            .disableHtmlEscaping()
            .create();

    private Json() {}

    /** An object without what is null. */
    static JsonObject of(Object value) {
        return GSON.toJsonTree(value).getAsJsonObject();
    }

    static <T> T as(Class<T> type, JsonElement value) {
        return GSON.fromJson(value, type);
    }

    static String shown(JsonElement value) {
        return GSON.toJson(value);
    }

    /** An object, or null if the text has none. */
    static JsonObject read(String text) {
        try {
            return GSON.fromJson(text, JsonObject.class);
        } catch (JsonParseException notJson) {
            return null;
        }
    }
}
