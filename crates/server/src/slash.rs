//! A trailing slash is optional everywhere: it is taken off before routing, once, instead of every
//! route being there twice.

use http::{
    Uri,
    uri::{Parts, PathAndQuery},
};

/// Takes one `/` off the end of the path, if there is more to the path; the query stays.
pub fn trim(uri: &mut Uri) {
    let path = uri.path();
    if path.len() < 2 || !path.ends_with('/') {
        return;
    }
    let trimmed = &path[..path.len() - 1];
    let path_and_query = match uri.query() {
        None => PathAndQuery::try_from(trimmed),
        Some(query) => PathAndQuery::try_from(format!("{trimmed}?{query}")),
    };
    // What is left of a valid path is valid; should it not be, the path stays as it came.
    let Ok(path_and_query) = path_and_query else { return };
    let mut parts = Parts::default();
    if uri.scheme().is_some() && uri.authority().is_some() {
        parts.scheme = uri.scheme().cloned();
        parts.authority = uri.authority().cloned();
    }
    parts.path_and_query = Some(path_and_query);
    if let Ok(changed) = Uri::from_parts(parts) {
        *uri = changed;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trimmed(text: &str) -> String {
        let mut uri: Uri = text.parse().unwrap();
        trim(&mut uri);
        uri.to_string()
    }

    #[test]
    fn one_slash_at_the_end_of_the_path_goes() {
        assert_eq!(trimmed("/api/v1/app/"), "/api/v1/app");
        assert_eq!(trimmed("/api/v1/app/?limit=3&a=/"), "/api/v1/app?limit=3&a=/");
        assert_eq!(trimmed("http://host:1/app/"), "http://host:1/app");
    }

    #[test]
    fn all_else_stays() {
        for same in ["/", "/api/v1/app", "/api/v1/app?iterator=a/", "/a%2F", "*"] {
            assert_eq!(trimmed(same), same);
        }
        assert_eq!(trimmed("/a//"), "/a/");
    }
}
