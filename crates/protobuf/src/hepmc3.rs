//! Constants of HepMC3 files, which all have messages of the same types.

/// First bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"hmpb";
/// Type of an event in a digest.
pub(crate) const EVENT: u32 = 3;

/// Schema of events. Fields that some versions do not write are optional.
pub(crate) const SCHEMA: &str = "syntax = 'proto2'; package HepMC3_pb;
message GenEventData {
    enum MomentumUnit { GEV = 0; MEV = 1; }
    enum LengthUnit { MM = 0; CM = 1; }
    required int32 event_number = 1;
    required MomentumUnit momentum_unit = 2;
    required LengthUnit length_unit = 3;
    repeated GenParticleData particles = 4;
    repeated GenVertexData vertices = 5;
    repeated double weights = 6;
    required FourVector event_pos = 7;
    repeated int32 links1 = 8;
    repeated int32 links2 = 9;
    repeated int32 attribute_id = 10;
    repeated string attribute_name = 11;
    repeated string attribute_string = 12;

    message GenParticleData {
        required int32 pid = 1;
        required int32 status = 2;
        required bool is_mass_set = 3;
        required double mass = 4;
        required FourVector momentum = 5;
        optional int32 id = 6;
    }
    message GenVertexData {
        required int32 status = 1;
        required FourVector position = 2;
        optional int32 id = 3;
    }
}
message FourVector {
    required double m_v1 = 1;
    required double m_v2 = 2;
    required double m_v3 = 3;
    required double m_v4 = 4;
}";
