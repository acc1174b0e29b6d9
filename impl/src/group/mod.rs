//! The group coordinator: generations, staged offsets, their markers.
